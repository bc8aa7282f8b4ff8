// Writes the first of two tiles. Compile-time argument: the accessor. Runtime: address, tile.
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    constexpr auto args = TensorAccessorArgs<0>();
    const auto out = TensorAccessor(args, get_arg_val<uint32_t>(0), get_tile_size(0));
    cb_wait_front(0, 2);
    noc_async_write_page(get_arg_val<uint32_t>(1), out, get_read_ptr(0));
    noc_async_write_barrier();
    cb_pop_front(0, 2);
}
