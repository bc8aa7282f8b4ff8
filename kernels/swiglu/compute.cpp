// silu(h w1) * (h w3) for own columns; partial results of the group's columns through w2; the sum of all groups' for
// owned columns.
//
// Compile-time args   rows, hidden, rows of a block of w1 and w3; columns of a unit of w2, rows of its blocks; tiles of
//                     a slot; parts
// Runtime args        own columns, width, units, owned
#include "../shared/gate_up.h"
#include "../shared/norm_leader.h"
#include "../shared/split_cbs.h"

void kernel_main() {
    constexpr uint32_t rows = get_compile_time_arg_val(0);
    constexpr uint32_t hidden = get_compile_time_arg_val(1), block = get_compile_time_arg_val(2);
    constexpr uint32_t columns = get_compile_time_arg_val(3), down_block = get_compile_time_arg_val(4);
    constexpr uint32_t slot = get_compile_time_arg_val(5), parts = get_compile_time_arg_val(6);
    const uint32_t own = get_arg_val<uint32_t>(0), width = get_arg_val<uint32_t>(1);
    const uint32_t units = get_arg_val<uint32_t>(2), owned = get_arg_val<uint32_t>(3);

    compute_kernel_hw_startup<SrcOrder::Reverse>(CB_H, CB_WEIGHTS, SPLIT.own);
    gate_up<rows>(CB_H, hidden, CB_WEIGHTS, slot, block, own, SPLIT.own);
    push_products<rows, columns>(SPLIT.in, width, CB_WEIGHTS, slot, down_block, units, SPLIT.partial);
    add_parts<rows, parts>(SPLIT.x, SPLIT.parts, owned, SPLIT.out);
}
