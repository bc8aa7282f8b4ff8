// expect: semaphore-missing (0,0) RISCV_1
// The program has semaphores 0 and 1.
#include "program.h"

void kernel_main() {
#if defined(READER)
    noc_semaphore_set(Word(get_semaphore(7)), 1);  // FAULT
#endif
}
