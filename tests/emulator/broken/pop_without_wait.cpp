// expect: pop-without-wait (0,0) RISCV_0
// A page is popped that was never waited for.
#include "program.h"

void kernel_main() {
#if defined(READER)
    read_tiles(0);
#elif defined(WRITER)
    write_tile(0, 0);
    cb_pop_front(0, 1);  // FAULT
#endif
}
