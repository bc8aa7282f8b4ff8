// Formats of the source registers and the packer, set once at a kernel's start.
#pragma once

#include "api/compute/common_globals.h"

namespace ckernel {

template <SrcOrder src_order = SrcOrder::Regular>
ALWI void compute_kernel_hw_startup(uint32_t icb0, uint32_t icb1, uint32_t ocb) {
    constexpr bool reverse = src_order == SrcOrder::Reverse;
    UNPACK((lb_startup_unpack(reverse ? icb1 : icb0, reverse ? icb0 : icb1)));
    MATH((lb_startup_math()));
    PACK((lb_startup_pack(ocb)));
}

ALWI void compute_kernel_hw_startup(uint32_t icb0, uint32_t ocb) { compute_kernel_hw_startup(icb0, icb0, ocb); }

}  // namespace ckernel
