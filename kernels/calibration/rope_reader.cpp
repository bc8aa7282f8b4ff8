// Reads for each of 4 tiles of x: the tile to cb 0, cos to cb 1, the tile of the other half to cb 2, sin to cb 3, each
// with a barrier of its own. Compile-time arguments: accessors of x, cos, sin. Runtime: addresses, first tile
// of x, of cos and sin.
#include "api/dataflow/dataflow_api.h"

template <class Accessor>
void read_tile(uint32_t cb, const Accessor& from, uint32_t tile) {
    cb_reserve_back(cb, 1);
    noc_async_read_page(tile, from, get_write_ptr(cb));
    noc_async_read_barrier();
    cb_push_back(cb, 1);
}

void kernel_main() {
    constexpr auto x_args = TensorAccessorArgs<0>();
    constexpr auto cos_args = TensorAccessorArgs<x_args.next_compile_time_args_offset()>();
    constexpr auto sin_args = TensorAccessorArgs<cos_args.next_compile_time_args_offset()>();
    const auto x = TensorAccessor(x_args, get_arg_val<uint32_t>(0), get_tile_size(0));
    const auto cos = TensorAccessor(cos_args, get_arg_val<uint32_t>(1), get_tile_size(1));
    const auto sin = TensorAccessor(sin_args, get_arg_val<uint32_t>(2), get_tile_size(3));
    const uint32_t first = get_arg_val<uint32_t>(3), row = get_arg_val<uint32_t>(4);
    for (uint32_t i = 0; i < 4; ++i) {
        read_tile(0, x, first + i);
        read_tile(1, cos, row + i);
        read_tile(2, x, first + (i + 2) % 4);
        read_tile(3, sin, row + i);
    }
}
