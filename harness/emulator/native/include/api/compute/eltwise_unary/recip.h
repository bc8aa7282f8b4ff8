#pragma once

#include "api/compute/common_globals.h"
#include "lb/sfpu.h"

namespace ckernel {

enum class ReciprocalDestAcc { BF16, FP32 };
enum class ReciprocalApproxMode { Default, Precise, Approximate };

namespace detail {
constexpr bool recip_approximate(ReciprocalApproxMode mode) {
    return mode == ReciprocalApproxMode::Default ? APPROX : mode == ReciprocalApproxMode::Approximate;
}
}  // namespace detail

template <ReciprocalDestAcc dest_acc = DST_ACCUM_MODE ? ReciprocalDestAcc::FP32 : ReciprocalDestAcc::BF16,
          ReciprocalApproxMode approximation = ReciprocalApproxMode::Default>
ALWI void recip_tile_init() {
    lb::sfpu_init(lb::Sfpu::Recip, detail::recip_approximate(approximation));
}

template <ReciprocalDestAcc dest_acc = DST_ACCUM_MODE ? ReciprocalDestAcc::FP32 : ReciprocalDestAcc::BF16,
          ReciprocalApproxMode approximation = ReciprocalApproxMode::Default>
ALWI void recip_tile(uint32_t idst, VectorMode vector_mode = VectorMode::RC) {
    lb::sfpu(lb::Sfpu::Recip, idst, vector_mode, detail::recip_approximate(approximation));
}

}  // namespace ckernel
