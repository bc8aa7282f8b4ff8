// The transpose of a 32x32 tile on its way to DEST.
#pragma once

#include "api/compute/tile_move_copy.h"

namespace ckernel {

template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void transpose_init(uint32_t icb) {
    lb::move_init(lb::Fpu::Transpose);
}

template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void transpose_tile(uint32_t icb, uint32_t itile, uint32_t idst) {
    lb::move_tile(lb::Fpu::Transpose, icb, itile, idst);
}

template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void transpose_block(uint32_t icb, uint32_t start_itile, uint32_t start_idst, uint32_t ntiles) {
    for (uint32_t i = 0; i < ntiles; ++i) transpose_tile(icb, start_itile + i, start_idst + i);
}

}  // namespace ckernel
