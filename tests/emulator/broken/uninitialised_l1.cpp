// expect: uninitialised-read (0,0) RISCV_1
// A load from a page that nothing has written.
#include "program.h"

void kernel_main() {
#if defined(READER)
    cb_reserve_back(1, 1);
    const uint32_t n = Word(get_write_ptr(1))[0];  // FAULT
    if (n) read_tiles(0);
#endif
}
