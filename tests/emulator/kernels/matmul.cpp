// One row of blocks of a product: cb 0 holds rt x kt tiles of in0, cb 1 kt x ct tiles of in1, cb 2 gets rt x ct tiles.
// Compile-time arguments: rt, ct, kt, and whether partial sums are kept in L1 by the packer.
#include "api/compute/common.h"
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/matmul.h"
#include "api/compute/pack.h"

void kernel_main() {
    constexpr uint32_t rt = get_compile_time_arg_val(0), ct = get_compile_time_arg_val(1),
                       kt = get_compile_time_arg_val(2);
    constexpr bool in_l1 = get_compile_time_arg_val(3);
    compute_kernel_hw_startup<SrcOrder::Reverse>(0, 1, 2);
    matmul_block_init(0, 1, 0, ct, rt, kt);
    cb_wait_front(0, rt * kt);
    cb_wait_front(1, kt * ct);
    cb_reserve_back(2, rt * ct);
    if constexpr (in_l1) {
        for (uint32_t k = 0; k < kt; ++k) {
            tile_regs_acquire();
            matmul_block(0, 1, k, k * ct, 0, 0, ct, rt, kt);
            tile_regs_commit();
            tile_regs_wait();
            pack_reconfig_l1_acc(k > 0);
            for (uint32_t i = 0; i < rt * ct; ++i) pack_tile<true>(i, 2, i);
            tile_regs_release();
        }
    } else {
        tile_regs_acquire();
        for (uint32_t k = 0; k < kt; ++k) matmul_block(0, 1, k, k * ct, 0, 0, ct, rt, kt);
        tile_regs_commit();
        tile_regs_wait();
        for (uint32_t i = 0; i < rt * ct; ++i) pack_tile(i, 2);
        tile_regs_release();
    }
    cb_push_back(2, rt * ct);
    cb_pop_front(0, rt * kt);
    cb_pop_front(1, kt * ct);
}
