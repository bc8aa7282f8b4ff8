// DEST with a scalar, given as the bits of an fp32.
#pragma once

#include "api/compute/common_globals.h"
#include "lb/sfpu.h"

namespace ckernel {

ALWI void binop_with_scalar_tile_init() { lb::sfpu_init(lb::Sfpu::Scalar); }

template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void add_unary_tile(uint32_t idst, uint32_t param1) {
    lb::sfpu_scalar(0, idst, lb::as_float(param1));
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void sub_unary_tile(uint32_t idst, uint32_t param1) {
    lb::sfpu_scalar(1, idst, lb::as_float(param1));
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void rsub_unary_tile(uint32_t idst, uint32_t param1) {
    lb::sfpu_scalar(2, idst, lb::as_float(param1));
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void mul_unary_tile(uint32_t idst, uint32_t param1) {
    lb::sfpu_scalar(3, idst, lb::as_float(param1));
}
// The factor is the reciprocal already: the host passes 1 / x.
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void div_unary_tile(uint32_t idst, uint32_t param1) {
    lb::sfpu_scalar(3, idst, lb::as_float(param1));
}

}  // namespace ckernel
