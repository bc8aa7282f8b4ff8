// out = x1 + down, tile by tile, in fp32 in DEST.
//
// Runtime args        first, n
#include "api/compute/common.h"
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_binary.h"
#include "api/debug/kernel_profiler.hpp"
#include "cbs.h"

void kernel_main() {
    const uint32_t n = get_arg_val<uint32_t>(1);
    compute_kernel_hw_startup(CB_X1, CB_DOWN, CB_OUT);
    add_init(CB_X1, CB_DOWN);
    for (uint32_t i = 0; i < n; ++i) {
        DeviceZoneScopedN("add");
        cb_wait_front(CB_X1, 1);
        cb_wait_front(CB_DOWN, 1);
        tile_regs_acquire();
        add_tiles(CB_X1, CB_DOWN, 0, 0, 0);
        tile_regs_commit();
        cb_pop_front(CB_X1, 1);
        cb_pop_front(CB_DOWN, 1);

        cb_reserve_back(CB_OUT, 1);
        tile_regs_wait();
        pack_tile(0, CB_OUT);
        tile_regs_release();
        cb_push_back(CB_OUT, 1);
    }
}
