// expect: alignment (0,0) RISCV_0
// Writes need source and destination to agree modulo 16 B.
#include "program.h"

void kernel_main() {
#if defined(READER)
    read_tiles(0);
#elif defined(WRITER)
    cb_wait_front(0, 2);
    noc_async_write(get_read_ptr(0) + 8, output().get_noc_addr(0), 64);  // FAULT
    noc_async_write_barrier();
#endif
}
