#pragma once

#include "api/compute/common_globals.h"
#include "lb/sfpu.h"

namespace ckernel {

enum class RsqrtMode { Default, Fast };

ALWI void rsqrt_tile_init() { lb::sfpu_init(lb::Sfpu::Rsqrt, APPROX); }

template <RsqrtMode mode = RsqrtMode::Default, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void rsqrt_tile(uint32_t idst) {
    static_assert(mode == RsqrtMode::Default, "RsqrtMode::Fast is not modelled by the emulator");
    lb::sfpu(lb::Sfpu::Rsqrt, idst, VectorMode::RC, APPROX);
}

}  // namespace ckernel
