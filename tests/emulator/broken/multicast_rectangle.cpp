// expect: multicast-rectangle (0,0) RISCV_1
// On NoC 0 a rectangle goes from its top left to its bottom right.
#include "program.h"

void kernel_main() {
#if defined(READER)
    if (!first_core()) return;
    read_tile(0, 0);
    const uint64_t other =
        get_noc_multicast_addr(get_arg_val<uint32_t>(0), get_arg_val<uint32_t>(1), my_x[0], my_y[0], get_write_ptr(1));
    noc_async_write_multicast(get_read_ptr(0), other, get_tile_size(0), 1);  // FAULT
#endif
}
