#pragma once

#include "api/compute/common.h"
#include "api/compute/tile_move_copy.h"

namespace ckernel {

template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
[[deprecated("Use compute_kernel_hw_startup(icb, ocb), then copy_init(icb)")]] ALWI void unary_op_init_common(
    uint32_t icb, uint32_t ocb) {
    compute_kernel_hw_startup(icb, ocb);
    copy_init(icb);
}

template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
[[deprecated("Use compute_kernel_hw_startup(icb, ocb), then copy_init(icb)")]] ALWI void init_sfpu(uint32_t icb,
                                                                                                   uint32_t ocb) {
    compute_kernel_hw_startup(icb, ocb);
    copy_init(icb);
}

}  // namespace ckernel
