// Changes of format between operations. The forms with an old operand are for saving time; both end alike.
#pragma once

#include "api/compute/common_globals.h"

namespace ckernel {

ALWI void reconfig_data_format_srca(const uint32_t srca_new_operand) {
    UNPACK((lb_reconfig_source(srca_new_operand, false)));
}
ALWI void reconfig_data_format_srca(const uint32_t srca_old_operand, const uint32_t srca_new_operand) {
    UNPACK((lb_reconfig_source_if_new(srca_old_operand, srca_new_operand, false)));
}
ALWI void reconfig_data_format_srcb(const uint32_t srcb_new_operand) {
    UNPACK((lb_reconfig_source(srcb_new_operand, true)));
}
ALWI void reconfig_data_format_srcb(const uint32_t srcb_old_operand, const uint32_t srcb_new_operand) {
    UNPACK((lb_reconfig_source_if_new(srcb_old_operand, srcb_new_operand, true)));
}
ALWI void reconfig_data_format(const uint32_t srca_new_operand, const uint32_t srcb_new_operand) {
    reconfig_data_format_srca(srca_new_operand);
    reconfig_data_format_srcb(srcb_new_operand);
}
ALWI void reconfig_data_format(const uint32_t srca_old_operand, const uint32_t srca_new_operand,
                               const uint32_t srcb_old_operand, const uint32_t srcb_new_operand) {
    reconfig_data_format_srca(srca_old_operand, srca_new_operand);
    reconfig_data_format_srcb(srcb_old_operand, srcb_new_operand);
}

template <bool is_tile_dim_reconfig_en = false>
ALWI void pack_reconfig_data_format(const uint32_t new_cb_id) {
    PACK((lb_reconfig_pack(new_cb_id)));
}
template <bool is_tile_dim_reconfig_en = false>
ALWI void pack_reconfig_data_format(const uint32_t old_cb_id, const uint32_t new_cb_id) {
    PACK((lb_reconfig_pack_if_new(old_cb_id, new_cb_id)));
}

}  // namespace ckernel
