// expect: outside-buffer (0,0) RISCV_1
// The tensor has 8 pages, 0 to 7.
#include "program.h"

void kernel_main() {
#if defined(READER)
    cb_reserve_back(0, 1);
    noc_async_read_page(8, input(), get_write_ptr(0));  // FAULT
    noc_async_read_barrier();
    cb_push_back(0, 1);
#endif
}
