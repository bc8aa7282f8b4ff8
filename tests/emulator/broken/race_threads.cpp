// expect: race (0,0) RISCV_0
// The writer looks at what the reader stores, with nothing between them.
#include "program.h"

void kernel_main() {
#if defined(READER)
    Word(get_write_ptr(1))[0] = 7;
#elif defined(WRITER)
    if (Word(get_write_ptr(1))[0] == 7) cb_reserve_back(2, 1);  // FAULT
#endif
}
