// out = a op b, op picked by defines: INIT(a, b), TILES(a, b, ia, ib, dst).
// Compile-time argument: tiles a block. Runtime: n.
#include "api/compute/common.h"
#include "api/compute/eltwise_binary.h"
#include "api/compute/bcast.h"
#include "api/compute/compute_kernel_hw_startup.h"

void kernel_main() {
    constexpr uint32_t block = get_compile_time_arg_val(0);
    const uint32_t n = get_arg_val<uint32_t>(0);
    compute_kernel_hw_startup(0, 1, 2);
    INIT(0, 1);
    for (uint32_t i = 0; i < n; i += block) {
        cb_wait_front(0, block);
        cb_wait_front(1, block);
        cb_reserve_back(2, block);
        tile_regs_acquire();
        for (uint32_t k = 0; k < block; ++k) TILES(0, 1, k, k, k);
        tile_regs_commit();
        tile_regs_wait();
        for (uint32_t k = 0; k < block; ++k) pack_tile(k, 2);
        tile_regs_release();
        cb_push_back(2, block);
        cb_pop_front(0, block);
        cb_pop_front(1, block);
    }
}
