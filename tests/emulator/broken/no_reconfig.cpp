// expect: data-format (0,0) unpack
// SrcA is configured for bf16, the tiles are bfp8.
#include "program.h"

void kernel_main() {
#if defined(READER)
    cb_reserve_back(3, 1);
    noc_async_read(input().get_noc_addr(0), get_write_ptr(3), get_tile_size(3));
    noc_async_read_barrier();
    cb_push_back(3, 1);
#elif defined(COMPUTE)
    compute_kernel_hw_startup(0, 2);
    copy_init(0);
    copy_init(3);
    cb_wait_front(3, 1);
    tile_regs_acquire();
    copy_tile(3, 0, 0);  // FAULT
    tile_regs_commit();
#endif
}
