// expect: alignment (0,0) RISCV_1
// DRAM reads need source and destination to agree modulo 64 B.
#include "program.h"

void kernel_main() {
#if defined(READER)
    cb_reserve_back(0, 2);
    noc_async_read_page(0, input(), get_write_ptr(0) + 16);  // FAULT
    noc_async_read_barrier();
#endif
}
