// Between the formats of circular buffers; IN_DTYPE and OUT_DTYPE are DataFormat numbers.
#pragma once

#include "api/compute/common_globals.h"
#include "lb/sfpu.h"

namespace ckernel {

template <uint32_t IN_DTYPE, uint32_t OUT_DTYPE>
ALWI void typecast_tile_init() {
    lb::sfpu_init(lb::Sfpu::Typecast);
}

template <uint32_t IN_DTYPE, uint32_t OUT_DTYPE, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void typecast_tile(uint32_t idst) {
    lb::SfpuCall call;
    call.op = lb::Sfpu::Typecast;
    call.from = IN_DTYPE;
    call.to = OUT_DTYPE;
    MATH((lb_sfpu(call, idst)));
}

}  // namespace ckernel
