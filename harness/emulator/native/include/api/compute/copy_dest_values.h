#pragma once

#include "api/compute/common_globals.h"
#include "lb/sfpu.h"

namespace ckernel {

ALWI void copy_dest_values_init() { lb::sfpu_init(lb::Sfpu::Copy); }
template <DataFormat DATA_FORMAT>
ALWI void copy_dest_values(uint32_t idst_in, uint32_t idst_out) {
    MATH((lb_sfpu_binary(lb::Sfpu::Copy, idst_in, idst_in, idst_out)));
}

}  // namespace ckernel
