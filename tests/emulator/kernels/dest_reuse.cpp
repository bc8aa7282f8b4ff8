// out = max((a + b) * a, b), the sum and the product without leaving DEST. Runtime: n.
#include "api/compute/binary_max_min.h"
#include "api/compute/common.h"
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_binary.h"
#include "api/compute/tile_move_copy.h"

void kernel_main() {
    const uint32_t n = get_arg_val<uint32_t>(0);
    compute_kernel_hw_startup(0, 1, 2);
    binary_max_tile_init();
    for (uint32_t i = 0; i < n; ++i) {
        cb_wait_front(0, 1);
        cb_wait_front(1, 1);
        cb_reserve_back(2, 1);
        tile_regs_acquire();
        add_init(0, 1);
        add_tiles(0, 1, 0, 0, 0);
        mul_reuse_dest_init<EltwiseBinaryReuseDestType::DEST_TO_SRCA>(0);
        mul_reuse_dest_tiles<EltwiseBinaryReuseDestType::DEST_TO_SRCA>(0, 0, 0);
        copy_init(1);
        copy_tile(1, 0, 1);
        binary_max_tile(0, 1, 0);
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, 2);
        tile_regs_release();
        cb_push_back(2, 1);
        cb_pop_front(0, 1);
        cb_pop_front(1, 1);
    }
}
