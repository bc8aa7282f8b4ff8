// expect: cb-missing (0,0) RISCV_1
// The program has circular buffers 0 to 5.
#include "program.h"

void kernel_main() {
#if defined(READER)
    cb_reserve_back(9, 1);  // FAULT
#endif
}
