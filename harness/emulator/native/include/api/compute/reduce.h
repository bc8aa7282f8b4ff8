// Sums, averages and maxima along rows, columns or both. reduce_init masks the packer until reduce_uninit.
#pragma once

#include "api/compute/common.h"

namespace lb {

constexpr Config reduce_config(PoolType pool, ReduceDim dim) {
    Config c = config(Fpu::Reduce);
    c.pool = uint8_t(pool);
    c.dim = uint8_t(dim);
    return c;
}

}  // namespace lb

namespace ckernel {

template <PoolType reduce_type, ReduceDim reduce_dim, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void reduce_init(uint32_t icb, uint32_t icb_scaler, uint32_t ocb) {
    UNPACK((lb_unpack_init(lb::reduce_config(reduce_type, reduce_dim), lb::Block{})));
    MATH((lb_math_init(lb::reduce_config(reduce_type, reduce_dim), lb::Block{})));
    PACK((lb_pack_mask(uint8_t(reduce_dim) + 1)));
}

ALWI void reduce_uninit(uint32_t = 0) { PACK((lb_pack_mask(0))); }

template <PoolType reduce_type, ReduceDim reduce_dim, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void reduce_tile(uint32_t icb, uint32_t icb_scaler, uint32_t itile, uint32_t itile_scaler, uint32_t idst) {
    UNPACK((lb_unpack(lb::reduce_config(reduce_type, reduce_dim), icb, itile, icb_scaler, itile_scaler, lb::Block{})));
    MATH((lb_math(lb::reduce_config(reduce_type, reduce_dim), idst, lb::phases(MATH_FIDELITY), lb::Block{})));
}

template <PoolType reduce_type, ReduceDim reduce_dim, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void reduce_block(uint32_t icb, uint32_t icb_scaler, uint32_t start_itile, uint32_t itile_scaler,
                       uint32_t start_idst, uint32_t ntiles) {
    for (uint32_t i = 0; i < ntiles; ++i)
        reduce_tile<reduce_type, reduce_dim>(icb, icb_scaler, start_itile + i, itile_scaler, start_idst + i);
}

}  // namespace ckernel
