// Brings activations to the group, sends partial results to their owners, writes owned columns.
//
// Compile-time args   rows, columns of a unit, groups, parts; widths of activations and output, accessors of both
// Common args         addresses of activations, residual, output
// Runtime args        those of split_linear.h
#include "../shared/split_linear.h"

void kernel_main() {
    constexpr uint32_t rows = get_compile_time_arg_val(0), columns = get_compile_time_arg_val(1);
    constexpr uint32_t groups = get_compile_time_arg_val(2), parts = get_compile_time_arg_val(3);
    constexpr uint32_t in_width = get_compile_time_arg_val(4), out_width = get_compile_time_arg_val(5);
    constexpr auto in_args = TensorAccessorArgs<6>();
    constexpr auto out_args = TensorAccessorArgs<in_args.next_compile_time_args_offset()>();
    const auto in = TensorAccessor(in_args, get_common_arg_val<uint32_t>(0), get_tile_size(SPLIT.own));
    const auto x = TensorAccessor(out_args, get_common_arg_val<uint32_t>(1), get_tile_size(SPLIT.x));
    const auto out = TensorAccessor(out_args, get_common_arg_val<uint32_t>(2), get_tile_size(SPLIT.out));
    const Split split(0);

    read_own_and_owned<rows>(split, in, in_width, x, out_width);
    gather<rows>(split);
    scatter<rows, columns, groups, parts>(split);
    write_owned<rows>(split, out, out_width);
}
