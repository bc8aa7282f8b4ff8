// Tile i of cb 0 becomes tile k of cb 2, where word 3 of tile i of cb 1 holds k; n tiles in all. Runtime: n.
#include "api/compute/common.h"
#include "api/compute/tile_move_copy.h"

void kernel_main() {
    const uint32_t n = get_arg_val<uint32_t>(0);
    compute_kernel_hw_startup(0, 2);
    copy_init(0);
    cb_wait_front(0, n);
    cb_wait_front(1, n);
    cb_reserve_back(2, n);
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t k = read_tile_value(1, i, 3), dst = k % 4;
        tile_regs_acquire();
        copy_tile(0, i, dst);
        tile_regs_commit();
        tile_regs_wait();
        pack_tile<true>(dst, 2, k);
        tile_regs_release();
    }
    cb_push_back(2, n);
    cb_pop_front(0, n);
    cb_pop_front(1, n);
}
