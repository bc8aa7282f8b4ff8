// expect: outside-buffer (0,0) RISCV_1
// A null pointer.
#include "program.h"

void kernel_main() {
#if defined(READER)
    Word nothing = Word(uintptr_t(get_semaphore(0) ? 0 : 4));
    *nothing = 1;  // FAULT
#endif
}
