#pragma once

#include "api/compute/common_globals.h"
#include "lb/sfpu.h"

namespace ckernel {

enum class InputClamping : uint8_t { ClampToNegative = 1, None = 0 };

template <bool approx = false, uint32_t scale = 0x3F800000,
          InputClamping input_clamping = InputClamping::ClampToNegative, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void exp_tile_init() {
    static_assert(scale == 0x3F800000, "exp_tile_init with a scale is not modelled by the emulator");
    lb::sfpu_init(lb::Sfpu::Exp, approx);
}

template <bool approx = false, bool scale_en = false, InputClamping input_clamping = InputClamping::ClampToNegative,
          int iterations = 8, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void exp_tile(uint32_t idst, VectorMode vector_mode = VectorMode::RC, uint16_t scale = 0x3F80) {
    static_assert(iterations == 8, "exp_tile of part of a face is not modelled by the emulator");
    lb::SfpuCall call;
    call.op = lb::Sfpu::Exp;
    call.approx = approx;
    call.clamp = input_clamping == InputClamping::ClampToNegative;
    call.span = uint8_t(vector_mode);
    call.scalar = scale_en ? lb::as_float(uint32_t(scale) << 16) : 1.0f;
    MATH((lb_sfpu(call, idst)));
}

}  // namespace ckernel
