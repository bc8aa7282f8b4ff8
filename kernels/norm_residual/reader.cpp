// Reads a core's tiles of x, o and gamma, and exchanges the sums of squares with the other cores of its tile row.
//
// Compile-time args   residual, cores of a tile row, accessors of x, o, gamma
// Common args         addresses of x, o, gamma (o: any without a residual)
// Runtime args        first page of x, first page of gamma, n, slot, the rectangle (multicast.h)
#include "exchange.h"

void kernel_main() {
    constexpr bool residual = get_compile_time_arg_val(0);
    constexpr uint32_t cores = get_compile_time_arg_val(1);
    constexpr auto x_args = TensorAccessorArgs<2>();
    constexpr auto o_args = TensorAccessorArgs<x_args.next_compile_time_args_offset()>();
    constexpr auto gamma_args = TensorAccessorArgs<o_args.next_compile_time_args_offset()>();
    const auto x = TensorAccessor(x_args, get_common_arg_val<uint32_t>(0), get_tile_size(CB_X1));
    const auto o = TensorAccessor(o_args, get_common_arg_val<uint32_t>(1), get_tile_size(CB_X1));
    const auto gamma = TensorAccessor(gamma_args, get_common_arg_val<uint32_t>(2), get_tile_size(CB_GAMMA));
    const uint32_t first = get_arg_val<uint32_t>(0), first_gamma = get_arg_val<uint32_t>(1);
    const uint32_t n = get_arg_val<uint32_t>(2);
    const Group group = group_from_args(3, cores);
    if (n == 0) {
        follow(group);
        return;
    }

    constexpr uint32_t cb_x = residual ? CB_X : CB_X1;
    {
        DeviceZoneScopedN("read");
        start_reading(x, first, n, cb_x);
        if constexpr (residual) start_reading(o, first, n, CB_O);
        start_reading(gamma, first_gamma, n, CB_GAMMA);
        cb_reserve_back(CB_GATHER, 1);
        if (group.leads()) start_clearing(gamma, first_gamma, cores);
        noc_async_read_barrier();
        cb_push_back(cb_x, n);
        if constexpr (residual) cb_push_back(CB_O, n);
        cb_push_back(CB_GAMMA, n);
    }

    DeviceZoneScopedN("exchange");
    send_sums(group);
    if (group.leads()) {
        lead(group);
    } else {
        cb_reserve_back(CB_FACTOR, 1);
        follow(group);
        cb_push_back(CB_FACTOR, 1);
    }
    noc_async_write_barrier();
    noc_async_atomic_barrier();
}
