// expect: crash (0,0) RISCV_1
// The kernel stops itself.
#include "program.h"

void kernel_main() {
#if defined(READER)
    __builtin_trap();  // FAULT
#endif
}
