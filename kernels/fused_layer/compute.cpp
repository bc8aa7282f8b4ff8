// The core's part of qkv, then of the attention, then from wo to the layer's output.
//
// Compile-time args   those of qkv_heads/compute.h (9); R, D, B, W, r, c, scale (the upper half of an fp32); columns of
// a
//                     unit, rows of a block of wo; hidden, rows of a block of w1 and w3; rows of a block of w2; tiles
//                     of a slot; parts; 1 / hidden columns and epsilon as bits of an fp32
// Runtime args        those of qkv_heads/compute.h (5); units, tile rows of the output that this core owns; Rest; of a
//                     worker: units, width of wo, own columns, width of w2, owned; of a leader: tile row
#include "plan.h"
#include "../qkv_heads/compute.h"
#include "../attention/compute.h"
#include "../shared/gate_up.h"
#include "../shared/norm_row.h"

constexpr uint32_t rows = qkv::rows, A = 9, F = A + 7;  // attention's and the rest's compile-time args
constexpr uint32_t hidden = get_compile_time_arg_val(F + 2);

ALWI void attend(uint32_t arg) {
    constexpr uint32_t R = get_compile_time_arg_val(A), D = get_compile_time_arg_val(A + 1);
    constexpr uint32_t B = get_compile_time_arg_val(A + 2), W = get_compile_time_arg_val(A + 3);
    constexpr uint32_t r = get_compile_time_arg_val(A + 4), c = get_compile_time_arg_val(A + 5);
    constexpr uint16_t scale = get_compile_time_arg_val(A + 6);
    attention::attend_units<R, D, B, W, r, c, scale, false>(get_arg_val<uint32_t>(arg), get_arg_val<uint32_t>(arg + 1));
}

ALWI void finish(uint32_t arg) {
    constexpr uint32_t columns = get_compile_time_arg_val(F), wo_block = get_compile_time_arg_val(F + 1);
    constexpr uint32_t block = get_compile_time_arg_val(F + 3), w2_block = get_compile_time_arg_val(F + 4);
    constexpr uint32_t slot = get_compile_time_arg_val(F + 5), parts = get_compile_time_arg_val(F + 6);
    const uint32_t units = get_arg_val<uint32_t>(arg), wo_width = get_arg_val<uint32_t>(arg + 1);
    const uint32_t own = get_arg_val<uint32_t>(arg + 2), w2_width = get_arg_val<uint32_t>(arg + 3);
    const uint32_t owned = get_arg_val<uint32_t>(arg + 4);
    push_products<rows, columns>(WO.in, wo_width, CB_WO_WEIGHTS, columns * wo_block, wo_block, units, WO.partial);
    add_parts<rows, parts, 2>(WO.x, WO.parts, owned, WO.out);
    gate_up<rows>(CB_H, hidden, CB_WEIGHTS, slot, block, own, W2.own);
    push_products<rows, columns>(W2.in, w2_width, CB_WEIGHTS, slot, w2_block, units, W2.partial);
    add_parts<rows, parts>(W2.x, W2.parts, owned, W2.out);
}

void kernel_main() {
    constexpr uint32_t attention_args = 5, rest_args = attention_args + 2;
    constexpr uint32_t scale = get_compile_time_arg_val(F + 7), eps = get_compile_time_arg_val(F + 8);
    compute_kernel_hw_startup<SrcOrder::Reverse>(qkv::CB_X, qkv::CB_W, qkv::CB_Z);
    qkv::project(0);
    attend(attention_args);
    const Rest rest = Rest(get_arg_val<uint32_t>(rest_args));
    if (rest == Rest::Worker) {
        finish(rest_args + 1);
    } else if (rest == Rest::Leader) {
        norm_row<rows, hidden, scale, eps>(get_arg_val<uint32_t>(rest_args + 1) * hidden);
    }
}
