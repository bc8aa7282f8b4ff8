// Reads a core's tiles of x, o and gamma, and exchanges the sums of squares with the other cores of its tile row.
//
// Compile-time args   residual, cores of a tile row, cores of its rectangle, gather tiles, accessors of x, o, gamma
// Common args         addresses of x, o, gamma (o: any without a residual)
// Runtime args        first page of x, first page of gamma, n, slot, rectangle x0, y0, x1, y1 (NoC coordinates)
#include "exchange.h"

void kernel_main() {
    constexpr bool residual = get_compile_time_arg_val(0);
    constexpr uint32_t cores = get_compile_time_arg_val(1), area = get_compile_time_arg_val(2);
    constexpr uint32_t gather_tiles = get_compile_time_arg_val(3);
    constexpr auto x_args = TensorAccessorArgs<4>();
    constexpr auto o_args = TensorAccessorArgs<x_args.next_compile_time_args_offset()>();
    constexpr auto gamma_args = TensorAccessorArgs<o_args.next_compile_time_args_offset()>();
    const auto x = TensorAccessor(x_args, get_common_arg_val<uint32_t>(0), get_tile_size(CB_X1));
    const auto o = TensorAccessor(o_args, get_common_arg_val<uint32_t>(1), get_tile_size(CB_X1));
    const auto gamma = TensorAccessor(gamma_args, get_common_arg_val<uint32_t>(2), get_tile_size(CB_GAMMA));
    const uint32_t first = get_arg_val<uint32_t>(0), first_gamma = get_arg_val<uint32_t>(1);
    const uint32_t n = get_arg_val<uint32_t>(2);
    const Group group = group_from_args(3, cores, area);
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
        cb_reserve_back(CB_GATHER, gather_tiles);
        if (group.leads()) clear_unused_rows(group, gather_tiles);
        noc_async_read_barrier();
        cb_push_back(cb_x, n);
        if constexpr (residual) cb_push_back(CB_O, n);
        cb_push_back(CB_GAMMA, n);
    }

    DeviceZoneScopedN("exchange");
    clear_factor();
    send_sums(group);
    if (group.leads()) {
        lead(group, gather_tiles);
        push_factor(get_read_ptr(CB_TOTAL));
        cb_pop_front(CB_TOTAL, 1);
    } else {
        follow(group);
        push_factor(get_write_ptr(CB_TOTAL));
    }
}
