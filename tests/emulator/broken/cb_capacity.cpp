// expect: cb-capacity (0,0) RISCV_1
// More pages are reserved than the buffer has.
#include "program.h"

void kernel_main() {
#if defined(READER)
    cb_reserve_back(0, 5);  // FAULT
    read_tiles(0);
#elif defined(WRITER)
    write_tiles(0);
#endif
}
