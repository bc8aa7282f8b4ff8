// For one core of a product split by columns of in1: all of in0 into cb 0, row by row, then its columns of in1 into
// cb 1. Compile-time arguments: rt, ct, kt, tiles a row of in1, the accessors. Runtime: addresses, first column.
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    constexpr uint32_t rt = get_compile_time_arg_val(0), ct = get_compile_time_arg_val(1),
                       kt = get_compile_time_arg_val(2);
    constexpr uint32_t width = get_compile_time_arg_val(3);
    constexpr auto a_args = TensorAccessorArgs<4>();
    constexpr auto b_args = TensorAccessorArgs<a_args.next_compile_time_args_offset()>();
    const auto a = TensorAccessor(a_args, get_arg_val<uint32_t>(0), get_tile_size(0));
    const auto b = TensorAccessor(b_args, get_arg_val<uint32_t>(1), get_tile_size(1));
    const uint32_t first = get_arg_val<uint32_t>(2);
    cb_reserve_back(0, rt * kt);
    for (uint32_t i = 0; i < rt * kt; ++i) noc_async_read_page(i, a, get_write_ptr(0) + i * get_tile_size(0));
    cb_reserve_back(1, kt * ct);
    for (uint32_t k = 0; k < kt; ++k)
        for (uint32_t c = 0; c < ct; ++c)
            noc_async_read_page(k * width + first + c, b, get_write_ptr(1) + (k * ct + c) * get_tile_size(1));
    noc_async_read_barrier();
    cb_push_back(0, rt * kt);
    cb_push_back(1, kt * ct);
}
