// The weights of a core's columns into cb 1, a block of K in flight at a time; then the product from cb 2 to DRAM.
// Compile-time arguments: tile rows, tiles of K, tiles of K a block, columns of this core, of all, the accessors of
// weights and product. Runtime: addresses, first column.
#include "../shared/dataflow.h"

void kernel_main() {
    constexpr uint32_t rows = get_compile_time_arg_val(0), depth = get_compile_time_arg_val(1),
                       block = get_compile_time_arg_val(2), own = get_compile_time_arg_val(3),
                       columns = get_compile_time_arg_val(4);
    constexpr auto weights_args = TensorAccessorArgs<5>();
    constexpr auto out_args = TensorAccessorArgs<weights_args.next_compile_time_args_offset()>();
    const auto weights = TensorAccessor(weights_args, get_arg_val<uint32_t>(0), get_tile_size(1));
    const auto out = TensorAccessor(out_args, get_arg_val<uint32_t>(1), get_tile_size(2));
    const uint32_t first = get_arg_val<uint32_t>(2);
    for (uint32_t k = 0; k < depth; k += block) {
        cb_reserve_back(1, block * own);
        for (uint32_t i = 0; i < block; ++i)
            for (uint32_t c = 0; c < own; ++c)
                noc_async_read_page((k + i) * columns + first + c, weights,
                                    get_write_ptr(1) + (i * own + c) * get_tile_size(1));
        noc_async_read_barrier();
        cb_push_back(1, block * own);
    }
    cb_wait_front(2, rows * own);
    for (uint32_t r = 0; r < rows; ++r)
        for (uint32_t c = 0; c < own; ++c)
            noc_async_write_page(r * columns + first + c, out, get_read_ptr(2) + (r * own + c) * get_tile_size(2));
    noc_async_write_barrier();
    cb_pop_front(2, rows * own);
}
