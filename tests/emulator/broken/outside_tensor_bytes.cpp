// expect: outside-buffer (0,0) RISCV_0
// A write of two pages where the bank holds one.
#include "program.h"

void kernel_main() {
#if defined(READER)
    read_tiles(0);
#elif defined(WRITER)
    cb_wait_front(0, 2);
    noc_async_write(get_read_ptr(0), output().get_noc_addr(0), 2 * get_tile_size(0));  // FAULT
    noc_async_write_barrier();
    cb_pop_front(0, 2);
#endif
}
