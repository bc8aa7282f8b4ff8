// expect: tile-registers (0,0) pack
// DEST is not given back before the next tile.
#include "program.h"

void kernel_main() {
#if defined(READER)
    read_tiles(0);
#elif defined(COMPUTE)
    compute_kernel_hw_startup(0, 2);
    copy_init(0);
    cb_wait_front(0, 2);
    cb_reserve_back(2, 2);
    for (uint32_t i = 0; i < 2; ++i) {
        tile_regs_acquire();
        copy_tile(0, i, 0);
        tile_regs_commit();
        tile_regs_wait();  // FAULT
        pack_tile(0, 2);
    }
    cb_push_back(2, 2);
#endif
}
