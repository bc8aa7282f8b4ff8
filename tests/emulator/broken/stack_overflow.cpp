// expect: stack-overflow (0,0) RISCV_1
// Recursion without end.
#include "program.h"

uint32_t depth(volatile uint32_t* n) {  // FAULT
    volatile uint32_t here[64];
    here[0] = *n + 1;  // FAULT
    if (here[0] == 0) return 0;
    return depth(here) + here[0];
}

void kernel_main() {
#if defined(READER)
    volatile uint32_t start = 0;
    depth(&start);
#endif
}
