// Binary operations whose second operand is a row, a column or a scalar, and the broadcast of one tile.
#pragma once

#include "api/compute/eltwise_binary.h"

namespace ckernel {

template <EltwiseBinaryType tBcastOp, BroadcastType tBcastDim>
ALWI void bcast_init(uint32_t icb0, uint32_t icb1) {
    lb::binary_init(lb::binary_config(tBcastOp, tBcastDim), false);
}

template <EltwiseBinaryType tBcastOp, BroadcastType tBcastDim, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void any_tiles_bcast(uint32_t icb0, uint32_t icb1, uint32_t itile0, uint32_t itile1, uint32_t idst,
                          uint32_t bcast_row_idx = 0) {
    ASSERT(bcast_row_idx == 0);
    constexpr bool product = tBcastOp == EltwiseBinaryType::ELWMUL;
    lb::binary_tiles(lb::binary_config(tBcastOp, tBcastDim), icb0, icb1, itile0, itile1, idst,
                     product ? MATH_FIDELITY : MathFidelity::LoFi);
}

#define LB_BCAST(name, type)                                                                                    \
    template <BroadcastType tBcastDim, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>                               \
    ALWI void name##_tiles_bcast(uint32_t icb0, uint32_t icb1, uint32_t itile0, uint32_t itile1, uint32_t idst, \
                                 uint32_t bcast_row_idx = 0) {                                                  \
        any_tiles_bcast<type, tBcastDim>(icb0, icb1, itile0, itile1, idst, bcast_row_idx);                      \
    }                                                                                                           \
    LB_BCAST_DIM(name, type, rows, BroadcastType::ROW)                                                          \
    LB_BCAST_DIM(name, type, cols, BroadcastType::COL)                                                          \
    LB_BCAST_DIM(name, type, scalar, BroadcastType::SCALAR)
#define LB_BCAST_DIM(name, type, dim, broadcast)                                                                      \
    ALWI void name##_bcast_##dim##_init(uint32_t icb0, uint32_t icb1) { bcast_init<type, broadcast>(icb0, icb1); }    \
    template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>                                                              \
    ALWI void name##_tiles_bcast_##dim(uint32_t icb0, uint32_t icb1, uint32_t itile0, uint32_t itile1, uint32_t idst, \
                                       uint32_t bcast_row_idx = 0) {                                                  \
        any_tiles_bcast<type, broadcast>(icb0, icb1, itile0, itile1, idst, bcast_row_idx);                            \
    }

LB_BCAST(add, EltwiseBinaryType::ELWADD)
LB_BCAST(sub, EltwiseBinaryType::ELWSUB)
LB_BCAST(mul, EltwiseBinaryType::ELWMUL)
#undef LB_BCAST
#undef LB_BCAST_DIM

}  // namespace ckernel

namespace lb {

constexpr Config broadcast_copy(BroadcastType type) {
    Config c = binary_config(EltwiseBinaryType::ELWADD, type);
    c.op = type == BroadcastType::NONE ? Fpu::Copy : Fpu::BroadcastCopy;
    return c;
}

}  // namespace lb

namespace ckernel {

template <BroadcastType bcast_type, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void unary_bcast_init(uint32_t icb) {
    lb::binary_init(lb::broadcast_copy(bcast_type), false);
}

template <BroadcastType bcast_type, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void unary_bcast(uint32_t icb, uint32_t in_tile_index, uint32_t dst_tile_index) {
    lb::binary_tiles(lb::broadcast_copy(bcast_type), icb, icb, in_tile_index, in_tile_index, dst_tile_index,
                     MathFidelity::LoFi);
}

template <BroadcastType bcast_type>
ALWI void unary_bcast_uninit(uint32_t) {}

}  // namespace ckernel
