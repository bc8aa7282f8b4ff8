// Circular buffers in a compute kernel: unpack consumes, pack produces.
#pragma once

#include "api/compute/common_globals.h"

namespace ckernel {

ALWI void cb_wait_front(uint32_t cbid, uint32_t ntiles) { UNPACK((lb_cb_wait_front(cbid, int32_t(ntiles)))); }
ALWI void cb_pop_front(uint32_t cbid, uint32_t ntiles) { UNPACK((lb_cb_pop_front(cbid, int32_t(ntiles)))); }
ALWI void cb_reserve_back(uint32_t cbid, uint32_t ntiles) { PACK((lb_cb_reserve_back(cbid, int32_t(ntiles)))); }
ALWI void cb_push_back(uint32_t cbid, uint32_t ntiles) { PACK((lb_cb_push_back(cbid, int32_t(ntiles)))); }

}  // namespace ckernel
