// expect: uninitialised-read (0,0) pack
// DEST tile 1 is packed, math wrote tile 0.
#include "program.h"

void kernel_main() {
#if defined(READER)
    read_tiles(0);
#elif defined(COMPUTE)
    compute_kernel_hw_startup(0, 2);
    copy_init(0);
    cb_wait_front(0, 1);
    cb_reserve_back(2, 1);
    tile_regs_acquire();
    copy_tile(0, 0, 0);
    tile_regs_commit();
    tile_regs_wait();
    pack_tile(1, 2);  // FAULT
    tile_regs_release();
#endif
}
