// expect: page-size (0,0) unpack
// The circular buffer of bf16 tiles has pages of half a tile.
#include "program.h"

void kernel_main() {
#if defined(READER)
    cb_reserve_back(5, 1);
    noc_async_read(input().get_noc_addr(0), get_write_ptr(5), 1024);
    noc_async_read_barrier();
    cb_push_back(5, 1);
#elif defined(COMPUTE)
    compute_kernel_hw_startup(5, 2);
    copy_init(5);
    cb_wait_front(5, 1);
    cb_reserve_back(2, 1);
    tile_regs_acquire();
    copy_tile(5, 0, 0);  // FAULT
    tile_regs_commit();
    tile_regs_wait();
    pack_tile(0, 2);
    tile_regs_release();
#endif
}
