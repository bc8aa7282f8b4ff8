// out = f(a): a copy or transpose to DEST, then an SFPU function, picked by defines: MOVE_INIT, MOVE, SFPU_INIT,
// SFPU(dst). Runtime: n.
#include "api/compute/common.h"
#include "api/compute/compute_kernel_api.h"
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/tile_move_copy.h"
#include "api/compute/transpose.h"
#include "api/compute/eltwise_unary/exp.h"
#include "api/compute/eltwise_unary/recip.h"
#include "api/compute/eltwise_unary/rsqrt.h"
#include "api/compute/eltwise_unary/sqrt.h"
#include "api/compute/eltwise_unary/negative.h"
#include "api/compute/eltwise_unary/binop_with_scalar.h"

void kernel_main() {
    const uint32_t n = get_arg_val<uint32_t>(0);
    compute_kernel_hw_startup(0, 2);
    MOVE_INIT(0);
    SFPU_INIT;
    for (uint32_t i = 0; i < n; ++i) {
        cb_wait_front(0, 1);
        cb_reserve_back(2, 1);
        tile_regs_acquire();
        MOVE(0, 0, 0);
        SFPU(0);
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, 2);
        tile_regs_release();
        cb_push_back(2, 1);
        cb_pop_front(0, 1);
    }
}
