// expect: dram-endpoint (0,0) RISCV_1
// A bank has three endpoints, one for each NoC, which the accessor knows; this is the third.
#include "program.h"

void kernel_main() {
#if defined(READER)
    cb_reserve_back(0, 1);
    const uint64_t page = input().get_noc_addr(0);
    noc_async_read(get_noc_addr(17, 12, uint32_t(page)), get_write_ptr(0), get_tile_size(0));  // FAULT
    noc_async_read_barrier();
    cb_push_back(0, 1);
#endif
}
