// Writes a core's tiles of x1 (with a residual), then of the norm.
//
// Compile-time args   residual, accessors of x1, h
// Common args         addresses of x1, h (x1: any without a residual)
// Runtime args        first page, n
#include "../shared/dataflow.h"
#include "cbs.h"

void kernel_main() {
    constexpr bool residual = get_compile_time_arg_val(0);
    constexpr auto x1_args = TensorAccessorArgs<1>();
    constexpr auto h_args = TensorAccessorArgs<x1_args.next_compile_time_args_offset()>();
    const auto x1 = TensorAccessor(x1_args, get_common_arg_val<uint32_t>(0), get_tile_size(CB_OUT));
    const auto h = TensorAccessor(h_args, get_common_arg_val<uint32_t>(1), get_tile_size(CB_OUT));
    const uint32_t first = get_arg_val<uint32_t>(0), n = get_arg_val<uint32_t>(1);
    if (n == 0) return;
    DeviceZoneScopedN("write");
    if constexpr (residual) start_writing(x1, first, n, CB_X1_OUT);
    start_writing(h, first, n, CB_OUT);
    noc_async_write_barrier();
    if constexpr (residual) cb_pop_front(CB_X1_OUT, n);
    cb_pop_front(CB_OUT, n);
}
