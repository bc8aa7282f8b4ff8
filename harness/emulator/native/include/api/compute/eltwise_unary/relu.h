#pragma once

#include "api/compute/common_globals.h"
#include "lb/sfpu.h"

namespace ckernel {

ALWI void relu_tile_init() { lb::sfpu_init(lb::Sfpu::Relu); }
ALWI void relu_tile(uint32_t idst) { lb::sfpu(lb::Sfpu::Relu, idst); }

}  // namespace ckernel
