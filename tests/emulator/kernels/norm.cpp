// Root mean square norm of one row of tiles: cb 0 input, cb 1 scaler, cb 3 squares and 4 the row factors, both fp32;
// cb 2 output. Compile-time arguments: tiles a row, epsilon as fp32 bits. Runtime: rows.
#include "api/compute/bcast.h"
#include "api/compute/common.h"
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_binary.h"
#include "api/compute/eltwise_unary/binop_with_scalar.h"
#include "api/compute/eltwise_unary/rsqrt.h"
#include "api/compute/reduce.h"

void kernel_main() {
    constexpr uint32_t width = get_compile_time_arg_val(0), eps = get_compile_time_arg_val(1);
    const uint32_t rows = get_arg_val<uint32_t>(0);
    compute_kernel_hw_startup(0, 0, 3);
    cb_wait_front(1, 1);
    for (uint32_t r = 0; r < rows; ++r) {
        cb_wait_front(0, width);
        reconfig_data_format(0, 0);
        pack_reconfig_data_format(3);
        mul_init(0, 0);
        for (uint32_t i = 0; i < width; ++i) {
            cb_reserve_back(3, 1);
            tile_regs_acquire();
            mul_tiles(0, 0, i, i, 0);
            tile_regs_commit();
            tile_regs_wait();
            pack_tile(0, 3);
            tile_regs_release();
            cb_push_back(3, 1);
        }

        // Sums along rows have the scaler in SrcA.
        reconfig_data_format(1, 3);
        pack_reconfig_data_format(4);
        reduce_init<PoolType::SUM, ReduceDim::REDUCE_ROW>(3, 1, 4);
        cb_wait_front(3, width);
        cb_reserve_back(4, 1);
        tile_regs_acquire();
        for (uint32_t i = 0; i < width; ++i) reduce_tile<PoolType::SUM, ReduceDim::REDUCE_ROW>(3, 1, i, 0, 0);
        binop_with_scalar_tile_init();
        add_unary_tile(0, eps);
        rsqrt_tile_init();
        rsqrt_tile(0);
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, 4);
        tile_regs_release();
        reduce_uninit();
        cb_push_back(4, 1);
        cb_pop_front(3, width);

        reconfig_data_format(0, 4);
        pack_reconfig_data_format(2);
        mul_bcast_cols_init(0, 4);
        cb_wait_front(4, 1);
        for (uint32_t i = 0; i < width; ++i) {
            cb_reserve_back(2, 1);
            tile_regs_acquire();
            mul_tiles_bcast_cols(0, 4, i, 0, 0);
            tile_regs_commit();
            tile_regs_wait();
            pack_tile(0, 2);
            tile_regs_release();
            cb_push_back(2, 1);
        }
        cb_pop_front(4, 1);
        cb_pop_front(0, width);
    }
    cb_pop_front(1, 1);
}
