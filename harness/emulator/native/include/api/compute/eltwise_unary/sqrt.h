#pragma once

#include "api/compute/common_globals.h"
#include "lb/sfpu.h"

namespace ckernel {

ALWI void sqrt_tile_init() { lb::sfpu_init(lb::Sfpu::Sqrt, APPROX); }

template <bool FAST_APPROX = false, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void sqrt_tile(uint32_t idst) {
    static_assert(!FAST_APPROX, "sqrt_tile<true> is not modelled by the emulator");
    lb::sfpu(lb::Sfpu::Sqrt, idst, VectorMode::RC, APPROX);
}

}  // namespace ckernel
