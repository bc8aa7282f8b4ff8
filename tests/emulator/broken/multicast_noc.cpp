// expect: multicast-rectangle (0,0) RISCV_0
// The rectangle is NoC 0's, from left to right; this is NoC 1, which goes the other way.
#include "program.h"

void kernel_main() {
#if defined(WRITER)
    if (!first_core()) return;
    noc_async_read_page(0, input(), get_write_ptr(0));
    noc_async_read_barrier();
    const uint64_t other =
        get_noc_multicast_addr(my_x[0], my_y[0], get_arg_val<uint32_t>(0), get_arg_val<uint32_t>(1), get_write_ptr(1));
    noc_async_write_multicast(get_write_ptr(0), other, get_tile_size(0), 1);  // FAULT
#endif
}
