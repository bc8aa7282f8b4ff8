// expect: uninitialised-read (0,0) pack
// Every second round finds the half of DEST that a round before it wrote, and counts on what it left there.
#include "program.h"

void kernel_main() {
#if defined(READER)
    read_tiles(0);
#elif defined(COMPUTE)
    compute_kernel_hw_startup(0, 2);
    copy_init(0);
    cb_wait_front(0, 2);
    for (uint32_t i = 0; i < kTiles; ++i) {
        cb_reserve_back(2, 1);
        tile_regs_acquire();
        if (i < 2) copy_tile(0, i, 0);
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, 2);  // FAULT
        tile_regs_release();
        cb_push_back(2, 1);
    }
#endif
}
