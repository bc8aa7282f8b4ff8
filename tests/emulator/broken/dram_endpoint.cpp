// expect: bad-coordinates (0,0) RISCV_1
// A bank has an endpoint for each NoC, which the accessor knows; one picked by hand may be the other NoC's.
#include "program.h"

void kernel_main() {
#if defined(READER)
    cb_reserve_back(0, 1);
    const uint64_t page = input().get_noc_addr(0);
    noc_async_read(get_noc_addr(0, 11, uint32_t(page)), get_write_ptr(0), get_tile_size(0));  // FAULT
    noc_async_read_barrier();
    cb_push_back(0, 1);
#endif
}
