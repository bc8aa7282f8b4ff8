// expect: cb-overrun (0,0) RISCV_1
// Blocks of three pages in a buffer of four: the second wraps in its middle.
#include "program.h"

void kernel_main() {
#if defined(READER)
    for (uint32_t block = 0; block < 2; ++block) {
        cb_reserve_back(0, 3);
        for (uint32_t i = 0; i < 3; ++i) noc_async_read_page(i, input(), get_write_ptr(0) + i * get_tile_size(0));
        noc_async_read_barrier();
        cb_push_back(0, 3);  // FAULT
    }
#elif defined(WRITER)
    cb_wait_front(0, 3);
    cb_pop_front(0, 3);
    cb_wait_front(0, 3);
    cb_pop_front(0, 3);
#endif
}
