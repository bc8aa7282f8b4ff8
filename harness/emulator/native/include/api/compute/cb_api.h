// Circular buffers in a compute kernel: unpack consumes, pack produces.
#pragma once

#include "api/compute/common_globals.h"

namespace ckernel {

ALWI void cb_wait_front(uint32_t cbid, uint32_t ntiles) { UNPACK((lb_cb_wait_front(cbid, int32_t(ntiles)))); }
ALWI void cb_pop_front(uint32_t cbid, uint32_t ntiles) { UNPACK((lb_cb_pop_front(cbid, int32_t(ntiles)))); }
ALWI void cb_reserve_back(uint32_t cbid, uint32_t ntiles) { PACK((lb_cb_reserve_back(cbid, int32_t(ntiles)))); }
ALWI void cb_push_back(uint32_t cbid, uint32_t ntiles) { PACK((lb_cb_push_back(cbid, int32_t(ntiles)))); }

// A word of a tile that unpack has waited for, on all three threads: unpack reads it and sends it to the others.
ALWI uint32_t read_tile_value(uint32_t cb_id, uint32_t tile_index, uint32_t element_offset) {
    uint32_t value = 0;
    UNPACK((value = lb_tile_value(cb_id, tile_index, element_offset)));
    MATH((value = lb_mailbox_read()));
    PACK((value = lb_mailbox_read()));
    return value;
}

}  // namespace ckernel
