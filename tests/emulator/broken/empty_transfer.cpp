// expect: empty-transfer (0,0) RISCV_1
// A read of nothing.
#include "program.h"

void kernel_main() {
#if defined(READER)
    cb_reserve_back(0, 1);
    noc_async_read(input().get_noc_addr(0), get_write_ptr(0), 0);  // FAULT
#endif
}
