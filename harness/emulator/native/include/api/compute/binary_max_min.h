#pragma once

#include "api/compute/common_globals.h"
#include "lb/sfpu.h"

namespace ckernel {

ALWI void binary_max_tile_init() { lb::sfpu_init(lb::Sfpu::Max); }
ALWI void binary_max_tile(uint32_t idst0, uint32_t idst1, uint32_t odst) {
    MATH((lb_sfpu_binary(lb::Sfpu::Max, idst0, idst1, odst)));
}
ALWI void binary_min_tile_init() { lb::sfpu_init(lb::Sfpu::Min); }
ALWI void binary_min_tile(uint32_t idst0, uint32_t idst1, uint32_t odst) {
    MATH((lb_sfpu_binary(lb::Sfpu::Min, idst0, idst1, odst)));
}

}  // namespace ckernel
