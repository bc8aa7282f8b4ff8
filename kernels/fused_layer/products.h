// Compute of workers and feeders: their heads of qkv, and what follows the attention.
//
// Compile-time args   those of qkv_heads/compute.h (9); R, D, B, W, r, c, scale (the upper half of an fp32); columns
//                     of a unit, rows of a block of wo; hidden, rows of a block of w1 and w3; rows of a block of w2;
//                     tiles of a slot; parts; layers, circular buffers to rewind between them, as in chain.h
// Runtime args        those of qkv_heads/compute.h (5); whether the core has a share of what follows the attention:
//                     units, width of wo, own columns, width of w2, owned
#pragma once

#include "plan.h"
#include "../qkv_heads/compute.h"
#include "../shared/gate_up.h"
#include "../shared/rewind.h"

constexpr uint32_t A = 9, F = A + 7;  // compile-time args of attention, of what follows it
constexpr uint32_t REST_ARG = 5, ATTENTION_ARG = REST_ARG + 6;

constexpr uint32_t layers = get_compile_time_arg_val(F + 7);
constexpr uint32_t cbs_low = get_compile_time_arg_val(F + 8), cbs_high = get_compile_time_arg_val(F + 9);

// The core's heads of qkv.
ALWI void project() {
    qkv::project(0);
    if (layers == 1 || get_arg_val<uint32_t>(1) == 0) return;
    pop_front(qkv::CB_X, qkv::k_tiles * qkv::rows);
    pop_front(qkv::CB_TABLES, qkv::SCALER + qkv::SCALERS);
}

// From wo to the layer's output.
ALWI void finish() {
    if (get_arg_val<uint32_t>(REST_ARG) == 0) return;
    constexpr uint32_t rows = qkv::rows, hidden = get_compile_time_arg_val(F + 2), arg = REST_ARG + 1;
    constexpr uint32_t columns = get_compile_time_arg_val(F), wo_block = get_compile_time_arg_val(F + 1);
    constexpr uint32_t block = get_compile_time_arg_val(F + 3), w2_block = get_compile_time_arg_val(F + 4);
    constexpr uint32_t slot = get_compile_time_arg_val(F + 5), parts = get_compile_time_arg_val(F + 6);
    const uint32_t units = get_arg_val<uint32_t>(arg), wo_width = get_arg_val<uint32_t>(arg + 1);
    const uint32_t own = get_arg_val<uint32_t>(arg + 2), w2_width = get_arg_val<uint32_t>(arg + 3);
    const uint32_t owned = get_arg_val<uint32_t>(arg + 4);
    // A loop, so that there is one copy of the code.
    for (uint32_t linear = 0; linear < 2; ++linear) {
        const bool first = linear == 0;
        const SplitCbs& cbs = first ? WO : W2;
        if (!first) gate_up<rows>(CB_H, hidden, CB_WEIGHTS, slot, block, own, W2.own);
        push_products<rows, columns>(cbs.in, first ? wo_width : w2_width, first ? CB_WO_WEIGHTS : CB_WEIGHTS,
                                     first ? columns * wo_block : slot, first ? wo_block : w2_block, units,
                                     cbs.partial);
        add_parts<rows, parts>(cbs.x, cbs.parts, owned, cbs.out, first ? 2 : 1);
    }
}

// All layers; `layer` computes one.
template <typename Layer>
ALWI void compute_layers(Layer layer) {
    compute_kernel_hw_startup<SrcOrder::Reverse>(qkv::CB_X, qkv::CB_W, qkv::CB_Z);
    for (uint32_t i = 0; i < layers; ++i) {
        layer();
        if (i + 1 < layers) rewind<cbs_low, cbs_high>();
    }
}
