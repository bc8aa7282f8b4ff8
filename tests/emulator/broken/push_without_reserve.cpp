// expect: push-without-reserve (0,0) RISCV_1
// Two pages are pushed, one was reserved.
#include "program.h"

void kernel_main() {
#if defined(READER)
    cb_reserve_back(0, 1);
    noc_async_read_page(first_tile(), input(), get_write_ptr(0));
    noc_async_read_barrier();
    cb_push_back(0, 2);  // FAULT
#endif
}
