// expect: dram-endpoint (0,0) RISCV_1
// The address is NoC 1's, the read NoC 0's: two NoCs at one endpoint.
#include "program.h"

void kernel_main() {
#if defined(READER)
    cb_reserve_back(0, 1);
    noc_async_read(input().get_noc_addr(first_tile(), 0, 1), get_write_ptr(0), get_tile_size(0));  // FAULT
    noc_async_read_barrier();
    cb_push_back(0, 1);
#endif
}
