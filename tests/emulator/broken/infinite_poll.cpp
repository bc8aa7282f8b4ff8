// expect: infinite-loop (0,0) RISCV_1
// The flag that the loop looks at is never set.
#include "program.h"

void kernel_main() {
#if defined(READER)
    if (!first_core()) return;
    Word flag = Word(get_write_ptr(1));
    *flag = 0;
    while (*flag == 0) {  // FAULT
    }
#endif
}
