// expect: missing-write-barrier (0,0) RISCV_0
// The kernel ends while its last writes are in flight.
#include "program.h"

void kernel_main() {
#if defined(READER)
    read_tiles(0);
#elif defined(WRITER)
    for (uint32_t i = 0; i < kTiles; ++i) {
        cb_wait_front(0, 1);
        noc_async_write_page(first_tile() + i, output(), get_read_ptr(0));  // FAULT
        noc_async_writes_flushed();
        cb_pop_front(0, 1);
    }
#endif
}
