// expect: outside-buffer (0,0) RISCV_1
// A store past the last circular buffer.
#include "program.h"

void kernel_main() {
#if defined(READER)
    Word(get_write_ptr(5))[2 * 1024 / 4] = 1;  // FAULT
#endif
}
