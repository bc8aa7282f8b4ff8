// Matrix products: in0 in SrcB, in1 in SrcA, summed into DEST.
#pragma once

#include "api/compute/common.h"

namespace lb {

constexpr Config matmul_config(uint32_t transpose) {
    Config c = config(Fpu::Matmul);
    c.transpose = transpose != 0;
    return c;
}

}  // namespace lb

namespace ckernel {

ALWI void matmul_init(uint32_t in0_cb_id, uint32_t in1_cb_id, const uint32_t transpose = 0) {
    UNPACK((lb_unpack_init(lb::matmul_config(transpose), lb::Block{})));
    MATH((lb_math_init(lb::matmul_config(transpose), lb::Block{})));
}

ALWI void matmul_tiles(uint32_t in0_cb_id, uint32_t in1_cb_id, uint32_t in0_tile_index, uint32_t in1_tile_index,
                       uint32_t idst) {
    UNPACK((lb_unpack_matmul(in0_cb_id, in0_tile_index, in1_cb_id, in1_tile_index, lb::Block{})));
    MATH((lb_math_matmul(idst, lb::phases(MATH_FIDELITY), lb::Block{})));
}

ALWI void matmul_block_init(uint32_t in0_cb_id, uint32_t in1_cb_id, const uint32_t transpose = 0, uint32_t ct_dim = 1,
                            uint32_t rt_dim = 1, uint32_t kt_dim = 1) {
    UNPACK((lb_unpack_init(lb::matmul_config(transpose), lb::Block{rt_dim, ct_dim, kt_dim})));
    MATH((lb_math_init(lb::matmul_config(transpose), lb::Block{rt_dim, ct_dim, kt_dim})));
}

ALWI void matmul_block(uint32_t in0_cb_id, uint32_t in1_cb_id, uint32_t in0_tile_index, uint32_t in1_tile_index,
                       uint32_t idst, const uint32_t transpose, uint32_t ct_dim, uint32_t rt_dim, uint32_t kt_dim) {
    UNPACK((lb_unpack_matmul(in0_cb_id, in0_tile_index, in1_cb_id, in1_tile_index, lb::Block{rt_dim, ct_dim, kt_dim})));
    MATH((lb_math_matmul(idst, lb::phases(MATH_FIDELITY), lb::Block{rt_dim, ct_dim, kt_dim})));
}

ALWI void mm_uninit(uint32_t, uint32_t) {}

}  // namespace ckernel
