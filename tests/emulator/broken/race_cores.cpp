// expect: race (1,0) RISCV_1
// Both cores write the same page of core (1,0).
#include "program.h"

void kernel_main() {
#if defined(READER)
    cb_reserve_back(1, 1);
    read_tile(0, 0);
    const uint64_t to = first_core() ? there(get_write_ptr(1)) : get_noc_addr(get_write_ptr(1));
    noc_async_write(get_read_ptr(0), to, get_tile_size(0));  // FAULT
    noc_async_write_barrier();
#endif
}
