// expect: bad-coordinates (0,0) RISCV_1
// Logical coordinates where the NoC wants virtual ones.
#include "program.h"

void kernel_main() {
#if defined(READER)
    read_tile(0, 0);
    noc_async_write(get_read_ptr(0), get_noc_addr(0, 0, get_write_ptr(1)), get_tile_size(0));  // FAULT
    noc_async_write_barrier();
#endif
}
