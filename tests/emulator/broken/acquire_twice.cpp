// expect: tile-registers (0,0) math
// The first acquire is not followed by a commit.
#include "program.h"

void kernel_main() {
#if defined(READER)
    read_tiles(0);
#elif defined(COMPUTE)
    compute_kernel_hw_startup(0, 2);
    copy_init(0);
    tile_regs_acquire();
    tile_regs_acquire();  // FAULT
#endif
}
