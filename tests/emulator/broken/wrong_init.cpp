// expect: wrong-init (0,0) math
// The tiles are added after an init for a copy.
#include "program.h"

void kernel_main() {
#if defined(READER)
    read_tiles(0);
#elif defined(COMPUTE)
    compute_kernel_hw_startup(0, 2);
    copy_init(0);
    cb_wait_front(0, 2);
    tile_regs_acquire();
    add_tiles(0, 0, 0, 1, 0);  // FAULT
    tile_regs_commit();
#endif
}
