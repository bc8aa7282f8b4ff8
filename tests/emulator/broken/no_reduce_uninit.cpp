// expect: wrong-init (0,0) pack
// The packer is still masked for a reduction when a copy is packed.
#include "program.h"

void kernel_main() {
#if defined(READER)
    read_tiles(0);
#elif defined(COMPUTE)
    compute_kernel_hw_startup(0, 0, 2);
    reduce_init<PoolType::MAX, ReduceDim::REDUCE_ROW>(0, 0, 2);
    copy_init(0);
    cb_wait_front(0, 1);
    cb_reserve_back(2, 1);
    tile_regs_acquire();
    copy_tile(0, 0, 0);
    tile_regs_commit();
    tile_regs_wait();
    pack_tile(0, 2);  // FAULT
    tile_regs_release();
#endif
}
