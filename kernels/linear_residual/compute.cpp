// Partial results of a group's share of K, and the sum of all groups' for owned columns.
//
// Compile-time args   rows, columns of a unit, rows of a block, parts
// Runtime args        width, units, owned
#include "../shared/matmul.h"
#include "../shared/split_cbs.h"

void kernel_main() {
    constexpr uint32_t rows = get_compile_time_arg_val(0), columns = get_compile_time_arg_val(1);
    constexpr uint32_t block = get_compile_time_arg_val(2), parts = get_compile_time_arg_val(3);
    const uint32_t width = get_arg_val<uint32_t>(0), units = get_arg_val<uint32_t>(1), owned = get_arg_val<uint32_t>(2);

    compute_kernel_hw_startup<SrcOrder::Reverse>(SPLIT.in, CB_WEIGHTS, SPLIT.partial);
    push_products<rows, columns>(SPLIT.in, width, CB_WEIGHTS, block * columns, block, units, SPLIT.partial);
    add_parts<rows, parts>(SPLIT.x, SPLIT.parts, owned, SPLIT.out);
}
