// Helpers of the SFPU headers.
#pragma once

#include "api/compute/common_globals.h"

namespace lb {

ALWI void sfpu_init(Sfpu op, bool approx = false) { MATH((lb_sfpu_init(op, approx))); }

ALWI void sfpu(Sfpu op, uint32_t idst, VectorMode span = VectorMode::RC, bool approx = false) {
    SfpuCall call;
    call.op = op;
    call.approx = approx;
    call.span = uint8_t(span);
    MATH((lb_sfpu(call, idst)));
}

ALWI float as_float(uint32_t bits) {
    float value;
    __builtin_memcpy(&value, &bits, 4);
    return value;
}

ALWI void sfpu_scalar(uint8_t kind, uint32_t idst, float scalar) {
    SfpuCall call;
    call.op = Sfpu::Scalar;
    call.kind = kind;
    call.scalar = scalar;
    MATH((lb_sfpu(call, idst)));
}

}  // namespace lb
