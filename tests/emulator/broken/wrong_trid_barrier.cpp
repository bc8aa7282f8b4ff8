// expect: missing-read-barrier (0,0) RISCV_1
// The barrier is for another transaction id.
#include "program.h"

void kernel_main() {
#if defined(READER)
    cb_reserve_back(0, 1);
    noc_async_read_set_trid(1);
    noc_async_read_page(first_tile(), input(), get_write_ptr(0));
    noc_async_read_barrier_with_trid(2);
    cb_push_back(0, 1);  // FAULT
    noc_async_read_barrier();
#endif
}
