// expect: linked-multicast (0,0) RISCV_1
// A unicast write comes between a linked multicast and the one that closes the link.
#include "program.h"

void kernel_main() {
#if defined(READER)
    if (first_core()) {
        read_tile(0, 0);
        const uint64_t other = get_noc_multicast_addr(my_x[0], my_y[0], get_arg_val<uint32_t>(0),
                                                      get_arg_val<uint32_t>(1), get_write_ptr(1));
        noc_async_write_multicast(get_read_ptr(0), other, get_tile_size(0), 1, true);
        noc_async_write_page(0, output(), get_read_ptr(0));  // FAULT
        noc_async_write_barrier();
    }
#endif
}
