// Activations of both linears to the group, partial results to their owners; x1 to the leaders, its norm from them; the
// output to DRAM.
//
// Compile-time args   rows, columns of a unit, groups, parts; widths of o and x; accessors of both
// Common args         addresses of o, x, output
// Runtime args        those of split_linear.h for wo, then for w2; coordinates of the leaders, x | y << 8
#include "moves.h"
#include "plan.h"

void kernel_main() {
    constexpr uint32_t rows = get_compile_time_arg_val(0), columns = get_compile_time_arg_val(1);
    constexpr uint32_t groups = get_compile_time_arg_val(2), parts = get_compile_time_arg_val(3);
    constexpr uint32_t o_width = get_compile_time_arg_val(4), hidden = get_compile_time_arg_val(5);
    constexpr auto o_args = TensorAccessorArgs<6>();
    constexpr auto x_args = TensorAccessorArgs<o_args.next_compile_time_args_offset()>();
    const auto o = TensorAccessor(o_args, get_common_arg_val<uint32_t>(0), get_tile_size(WO.own));
    const auto x = TensorAccessor(x_args, get_common_arg_val<uint32_t>(1), get_tile_size(WO.x));
    const auto out = TensorAccessor(x_args, get_common_arg_val<uint32_t>(2), get_tile_size(W2.out));
    const Split wo(0, WO), w2(wo.end(), W2, W2_SEMAPHORES, W2_SEMAPHORES + 1);

    read_own_and_owned<rows>(wo, o, o_width, x, hidden);
    gather<rows>(wo);
    move_sums<rows, columns, groups, parts>(wo, w2, get_semaphore(FILLED), hidden, [] {});
    write_owned<rows>(w2, out, hidden);
}
