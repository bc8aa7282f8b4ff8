// expect: deadlock (0,0) RISCV_0
// The writer waits for one tile more than the reader pushes.
#include "program.h"

void kernel_main() {
#if defined(READER)
    read_tiles(0);
#elif defined(WRITER)
    write_tiles(0);
    cb_wait_front(0, 1);  // FAULT
    cb_pop_front(0, 1);
#endif
}
