// expect: tile-registers (0,0) math
// Half of 16-bit DEST has 8 tiles, 0 to 7.
#include "program.h"

void kernel_main() {
#if defined(READER)
    read_tiles(0);
#elif defined(COMPUTE)
    compute_kernel_hw_startup(0, 2);
    copy_init(0);
    cb_wait_front(0, 1);
    tile_regs_acquire();
    copy_tile(0, 0, 8);  // FAULT
    tile_regs_commit();
#endif
}
