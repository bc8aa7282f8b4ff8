// SFPU functions without a header of their own.
#pragma once

#include "api/compute/common.h"
#include "lb/sfpu.h"

namespace ckernel {

template <bool fast_and_approx = false>
ALWI void sigmoid_tile_init() {
    lb::sfpu_init(lb::Sfpu::Sigmoid, fast_and_approx);
}
template <VectorMode vec_mode = VectorMode::RC, bool fast_and_approx = false, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void sigmoid_tile(uint32_t idst) {
    lb::sfpu(lb::Sfpu::Sigmoid, idst, vec_mode, fast_and_approx);
}
ALWI void silu_tile_init() { lb::sfpu_init(lb::Sfpu::Silu); }
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void silu_tile(uint32_t idst) {
    lb::sfpu(lb::Sfpu::Silu, idst);
}
ALWI void square_tile_init() { lb::sfpu_init(lb::Sfpu::Square); }
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void square_tile(uint32_t idst) {
    lb::sfpu(lb::Sfpu::Square, idst);
}
ALWI void abs_tile_init() { lb::sfpu_init(lb::Sfpu::Abs); }
ALWI void abs_tile(uint32_t idst) { lb::sfpu(lb::Sfpu::Abs, idst); }

namespace detail {
template <PoolType pool>
constexpr lb::Sfpu sfpu_reduce_op() {
    static_assert(pool == PoolType::MAX || pool == PoolType::SUM, "sfpu_reduce is modelled for MAX and SUM");
    return pool == PoolType::MAX ? lb::Sfpu::ReduceMax : lb::Sfpu::ReduceSum;
}
}  // namespace detail

template <PoolType pool_type, DataFormat format, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void sfpu_reduce_init() {
    lb::sfpu_init(detail::sfpu_reduce_op<pool_type>());
}
template <PoolType pool_type, DataFormat format, ReduceDim reduce_dim = ReduceDim::REDUCE_COL,
          bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void sfpu_reduce(uint32_t idst, uint32_t ct_dim = 1, uint32_t rt_dim = 1) {
    static_assert(reduce_dim != ReduceDim::REDUCE_SCALAR, "sfpu_reduce goes along rows or columns");
    ASSERT(ct_dim == 1 && rt_dim == 1);
    lb::SfpuCall call;
    call.op = detail::sfpu_reduce_op<pool_type>();
    call.kind = uint8_t(reduce_dim);
    MATH((lb_sfpu(call, idst)));
}

}  // namespace ckernel
