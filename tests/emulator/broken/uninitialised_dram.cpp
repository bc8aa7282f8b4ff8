// expect: uninitialised-read (0,0) unpack
// The tiles come from the output tensor, which nothing has written yet.
#include "program.h"

void kernel_main() {
#if defined(READER)
    cb_reserve_back(0, 1);
    noc_async_read_page(first_tile(), output(), get_write_ptr(0));
    noc_async_read_barrier();
    cb_push_back(0, 1);
#elif defined(COMPUTE)
    compute_kernel_hw_startup(0, 2);
    copy_init(0);
    cb_wait_front(0, 1);
    tile_regs_acquire();
    copy_tile(0, 0, 0);  // FAULT
    tile_regs_commit();
    tile_regs_wait();
    tile_regs_release();
#endif
}
