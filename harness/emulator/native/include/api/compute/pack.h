// From DEST to circular buffers.
#pragma once

#include "api/compute/common_globals.h"

namespace ckernel {

ALWI void pack_init(uint32_t ocb) { PACK((lb_reconfig_pack(ocb))); }

template <bool out_of_order_output = false, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void pack_tile(uint32_t ifrom_dst, uint32_t icb, uint32_t output_tile_index = 0) {
    PACK((lb_pack(ifrom_dst, icb, output_tile_index, out_of_order_output)));
}

template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void pack_block(uint32_t ifrom_dst, uint32_t icb, uint32_t ntiles) {
    for (uint32_t i = 0; i < ntiles; ++i) pack_tile<false, is_fp32_dest_acc_en>(ifrom_dst + i, icb);
}

ALWI void pack_reconfig_l1_acc(const uint32_t l1_acc_en) { PACK((lb_pack_accumulate(l1_acc_en))); }

}  // namespace ckernel
