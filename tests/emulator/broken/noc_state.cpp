// expect: noc-state (0,0) RISCV_1
// Nothing has set the state of the read.
#include "program.h"

void kernel_main() {
#if defined(READER)
    cb_reserve_back(0, 1);
    noc_async_read_with_state(0x100000, get_write_ptr(0), 64);  // FAULT
#endif
}
