// expect: memory-exhausted (0,0) RISCV_0
// Writes without end and without a barrier.
#include "program.h"

void kernel_main() {
#if defined(READER)
    read_tiles(0);
#elif defined(WRITER)
    cb_wait_front(0, 1);
    for (;;) noc_async_write_page(first_tile(), output(), get_read_ptr(0));  // FAULT
#endif
}
