// Two tiles in DEST to one, on the SFPU.
#pragma once

#include "api/compute/common_globals.h"
#include "lb/sfpu.h"

namespace ckernel {

#define LB_SFPU_BINARY(name, op)                                                  \
    ALWI void name##_binary_tile_init() { lb::sfpu_init(op); }                    \
    ALWI void name##_binary_tile(uint32_t idst0, uint32_t idst1, uint32_t odst) { \
        MATH((lb_sfpu_binary(op, idst0, idst1, odst)));                           \
    }

LB_SFPU_BINARY(add, lb::Sfpu::Add)
LB_SFPU_BINARY(sub, lb::Sfpu::Sub)
LB_SFPU_BINARY(rsub, lb::Sfpu::Rsub)
LB_SFPU_BINARY(mul, lb::Sfpu::Mul)
LB_SFPU_BINARY(div, lb::Sfpu::Div)
#undef LB_SFPU_BINARY

}  // namespace ckernel
