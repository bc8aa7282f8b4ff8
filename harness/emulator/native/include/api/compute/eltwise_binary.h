// Sums, differences and products of two tiles, and of a tile with what DEST holds.
#pragma once

#include "api/compute/common.h"

namespace lb {

ALWI void binary_init(Config config, bool accumulate) {
    config.accumulate = accumulate;
    UNPACK((lb_unpack_init(config, Block{})));
    MATH((lb_math_init(config, Block{})));
}

ALWI void binary_tiles(Config config, uint32_t icb0, uint32_t icb1, uint32_t itile0, uint32_t itile1, uint32_t idst,
                       MathFidelity fidelity) {
    UNPACK((lb_unpack(config, icb0, itile0, icb1, itile1, Block{})));
    MATH((lb_math(config, idst, phases(fidelity), Block{})));
}

constexpr Config reuse_config(EltwiseBinaryType type, EltwiseBinaryReuseDestType reuse) {
    Config c = binary_config(type);
    c.op = Fpu::Reuse;
    c.reuse = uint8_t(reuse);
    return c;
}

}  // namespace lb

namespace ckernel {

template <bool full_init, EltwiseBinaryType eltwise_binary_type>
ALWI void binary_tiles_init(uint32_t icb0, uint32_t icb1, bool acc_to_dest = false) {
    lb::Config config = lb::binary_config(eltwise_binary_type);
    config.accumulate = acc_to_dest;
    MATH((lb_math_init(config, lb::Block{})));
    if constexpr (full_init) {
        UNPACK((lb_unpack_init(config, lb::Block{})));
    }
}

#define LB_BINARY(name, type, fidelity, accumulates)                                                                 \
    ALWI void name##_init(uint32_t icb0, uint32_t icb1, bool acc_to_dest = accumulates) {                            \
        binary_tiles_init<true, type>(icb0, icb1, acc_to_dest);                                                      \
    }                                                                                                                \
    template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>                                                             \
    ALWI void name##_tiles(uint32_t icb0, uint32_t icb1, uint32_t itile0, uint32_t itile1, uint32_t idst) {          \
        lb::binary_tiles(lb::binary_config(type), icb0, icb1, itile0, itile1, idst, fidelity);                       \
    }                                                                                                                \
    template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>                                                             \
    ALWI void name##_block(uint32_t icb0, uint32_t icb1, uint32_t start_itile0, uint32_t start_itile1,               \
                           uint32_t start_idst, uint32_t ntiles) {                                                   \
        for (uint32_t i = 0; i < ntiles; ++i)                                                                        \
            name##_tiles<is_fp32_dest_acc_en>(icb0, icb1, start_itile0 + i, start_itile1 + i, start_idst + i);       \
    }                                                                                                                \
    template <EltwiseBinaryReuseDestType reuse_dest>                                                                 \
    ALWI void name##_reuse_dest_init(uint32_t icb) {                                                                 \
        static_assert(reuse_dest != EltwiseBinaryReuseDestType::NONE, "reuse_dest is DEST_TO_SRCA or DEST_TO_SRCB"); \
        lb::binary_init(lb::reuse_config(type, reuse_dest), false);                                                  \
    }                                                                                                                \
    template <EltwiseBinaryReuseDestType reuse_dest, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>                      \
    ALWI void name##_reuse_dest_tiles(uint32_t in_cb_id, uint32_t in_tile_index, uint32_t dst_tile_index) {          \
        lb::binary_tiles(lb::reuse_config(type, reuse_dest), in_cb_id, in_cb_id, in_tile_index, in_tile_index,       \
                         dst_tile_index, fidelity);                                                                  \
    }

LB_BINARY(add, EltwiseBinaryType::ELWADD, MathFidelity::LoFi, false)
LB_BINARY(sub, EltwiseBinaryType::ELWSUB, MathFidelity::LoFi, false)
LB_BINARY(mul, EltwiseBinaryType::ELWMUL, MATH_FIDELITY, true)
#undef LB_BINARY

}  // namespace ckernel
