// x1 = x + o wo, silu(h w1) * (h w3) of its norm h, and that through w2, + x1: a core's part of each.
//
// Compile-time args   rows; columns of a unit, rows of a block of wo; hidden, rows of a block of w1 and w3; rows of a
//                     block of w2; tiles of a slot; parts
// Runtime args        units, width of wo, own columns, width of w2, owned
#include "../shared/gate_up.h"
#include "plan.h"

void kernel_main() {
    constexpr uint32_t rows = get_compile_time_arg_val(0);
    constexpr uint32_t columns = get_compile_time_arg_val(1), wo_block = get_compile_time_arg_val(2);
    constexpr uint32_t hidden = get_compile_time_arg_val(3), block = get_compile_time_arg_val(4);
    constexpr uint32_t w2_block = get_compile_time_arg_val(5);
    constexpr uint32_t slot = get_compile_time_arg_val(6), parts = get_compile_time_arg_val(7);
    const uint32_t units = get_arg_val<uint32_t>(0), wo_width = get_arg_val<uint32_t>(1);
    const uint32_t own = get_arg_val<uint32_t>(2), w2_width = get_arg_val<uint32_t>(3);
    const uint32_t owned = get_arg_val<uint32_t>(4);

    compute_kernel_hw_startup<SrcOrder::Reverse>(WO.in, CB_WEIGHTS, WO.partial);
    push_products<rows, columns>(WO.in, wo_width, CB_WEIGHTS, slot, wo_block, units, WO.partial);
    add_parts<rows, parts>(WO.x, WO.parts, owned, WO.out, 2);
    gate_up<rows>(CB_H, hidden, CB_WEIGHTS, slot, block, own, W2.own);
    push_products<rows, columns>(W2.in, w2_width, CB_WEIGHTS, slot, w2_block, units, W2.partial);
    add_parts<rows, parts>(W2.x, W2.parts, owned, W2.out);
}
