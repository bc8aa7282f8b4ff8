// expect: missing-argument (0,0) RISCV_1
// The program gives arguments 0 and 1.
#include "program.h"

void kernel_main() {
#if defined(READER)
    const uint32_t n = get_arg_val<uint32_t>(2);  // FAULT
    for (uint32_t i = 0; i < n; ++i) read_tile(0, i);
#endif
}
