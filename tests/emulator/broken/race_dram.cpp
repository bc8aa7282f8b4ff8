// expect: race (1,0) RISCV_1
// Both cores write the same page of the output.
#include "program.h"

void kernel_main() {
#if defined(READER)
    read_tile(0, 0);
    noc_async_write_page(0, output(), get_read_ptr(0));  // FAULT
    noc_async_write_barrier();
#endif
}
