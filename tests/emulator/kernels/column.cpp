// Multicasts a page of a tensor in L1, which lies on this core, down its column. Compile-time arguments: receivers, the
// accessor. Runtime: address, page, column, first and last row.
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    constexpr uint32_t receivers = get_compile_time_arg_val(0);
    constexpr auto args = TensorAccessorArgs<1>();
    const auto a = TensorAccessor(args, get_arg_val<uint32_t>(0), get_tile_size(0));
    const uint32_t tile = static_cast<uint32_t>(a.get_noc_addr(get_arg_val<uint32_t>(1)));
    const uint32_t x = get_arg_val<uint32_t>(2), first = get_arg_val<uint32_t>(3), last = get_arg_val<uint32_t>(4);
    noc_async_write_multicast(tile, get_noc_multicast_addr(x, first, x, last, tile), get_tile_size(0), receivers);
    noc_async_write_barrier();
}
