// expect: missing-write-flush (0,0) RISCV_0
// The page is given back while the write still reads it.
#include "program.h"

void kernel_main() {
#if defined(READER)
    read_tiles(0);
#elif defined(WRITER)
    for (uint32_t i = 0; i < kTiles; ++i) {
        cb_wait_front(0, 1);
        noc_async_write_page(first_tile() + i, output(), get_read_ptr(0));
        cb_pop_front(0, 1);  // FAULT
    }
    noc_async_write_barrier();
#endif
}
