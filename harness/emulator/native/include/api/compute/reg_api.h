// DEST goes from math to pack and back: acquire and commit by math, wait and release by pack.
#pragma once

#include "api/compute/common_globals.h"

namespace ckernel {

ALWI void tile_regs_acquire() { MATH((lb_dest_acquire())); }
ALWI void tile_regs_wait() { PACK((lb_dest_wait())); }
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void tile_regs_commit() {
    MATH((lb_dest_commit()));
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void tile_regs_release() {
    PACK((lb_dest_release()));
}
[[deprecated("Use tile_regs_acquire() instead")]] ALWI void acquire_dst() {
    MATH((lb_dest_acquire()));
    PACK((lb_dest_wait()));
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
[[deprecated("Use tile_regs_release() instead")]] ALWI void release_dst() {
    MATH((lb_dest_commit()));
    PACK((lb_dest_release()));
}

}  // namespace ckernel
