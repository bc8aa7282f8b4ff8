// Waits for the norm of x1, brings own columns of silu(h w1) * (h w3) to the group, sends partial results to their
// owners, writes owned columns.
//
// Compile-time args   rows, hidden, columns of a unit of w2, groups, parts; accessor of x1 and the output
// Common args         addresses of x1, output
// Runtime args        those of split_linear.h
#include "../shared/norm_multicast.h"
#include "../shared/split_linear.h"

void kernel_main() {
    constexpr uint32_t rows = get_compile_time_arg_val(0), hidden = get_compile_time_arg_val(1);
    constexpr uint32_t columns = get_compile_time_arg_val(2);
    constexpr uint32_t groups = get_compile_time_arg_val(3), parts = get_compile_time_arg_val(4);
    constexpr auto args = TensorAccessorArgs<5>();
    const auto x1 = TensorAccessor(args, get_common_arg_val<uint32_t>(0), get_tile_size(SPLIT.x));
    const auto out = TensorAccessor(args, get_common_arg_val<uint32_t>(1), get_tile_size(SPLIT.out));
    const Split split(0);

    start_reading_columns<rows>(x1, hidden, split.get(FIRST_OWNED), split.get(OWNED), SPLIT.x);
    noc_async_read_barrier();
    cb_push_back(SPLIT.x, split.get(OWNED) * rows);
    receive_norm(rows, hidden);
    gather<rows>(split);
    scatter<rows, columns, groups, parts>(split);
    write_owned<rows>(split, out, hidden);
}
