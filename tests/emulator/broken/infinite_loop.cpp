// expect: infinite-loop (0,0) RISCV_1
// A loop that never calls anything.
#include "program.h"

void kernel_main() {
#if defined(READER)
    volatile uint32_t turns = 1;
    while (turns != 0) turns = turns | 1;  // FAULT
#endif
}
