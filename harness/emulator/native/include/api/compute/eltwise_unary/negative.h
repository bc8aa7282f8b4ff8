#pragma once

#include "api/compute/common_globals.h"
#include "lb/sfpu.h"

namespace ckernel {

ALWI void negative_tile_init() { lb::sfpu_init(lb::Sfpu::Negative); }
ALWI void negative_tile(uint32_t idst) { lb::sfpu(lb::Sfpu::Negative, idst); }

}  // namespace ckernel
