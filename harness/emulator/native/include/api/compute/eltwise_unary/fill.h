#pragma once

#include "api/compute/common_globals.h"
#include "lb/sfpu.h"

namespace ckernel {

ALWI void fill_tile_init() { lb::sfpu_init(lb::Sfpu::Fill); }
ALWI void fill_tile(uint32_t idst, float param0) {
    lb::SfpuCall call;
    call.op = lb::Sfpu::Fill;
    call.scalar = param0;
    MATH((lb_sfpu(call, idst)));
}

}  // namespace ckernel
