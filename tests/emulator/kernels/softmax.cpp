// Softmax over rows of tiles: cb 0 input, cb 1 scaler of ones, cb 3 maxima, 4 exponentials, 5 reciprocal sums, 2
// output. Compile-time argument: tiles a row. Runtime: rows.
#include "api/compute/bcast.h"
#include "api/compute/common.h"
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_unary/exp.h"
#include "api/compute/eltwise_unary/recip.h"
#include "api/compute/reduce.h"

constexpr uint32_t width = get_compile_time_arg_val(0);

template <PoolType pool>
ALWI void reduce_row(uint32_t from, uint32_t to) {
    if constexpr (pool == PoolType::MAX) {
        reconfig_data_format(from, 1);
    } else {
        reconfig_data_format(1, from);
    }
    reduce_init<pool, ReduceDim::REDUCE_ROW>(from, 1, to);
    cb_wait_front(from, width);
    cb_reserve_back(to, 1);
    tile_regs_acquire();
    for (uint32_t i = 0; i < width; ++i) reduce_tile<pool, ReduceDim::REDUCE_ROW>(from, 1, i, 0, 0);
    if constexpr (pool == PoolType::SUM) {
        recip_tile_init();
        recip_tile(0);
    }
    tile_regs_commit();
    tile_regs_wait();
    pack_tile(0, to);
    tile_regs_release();
    reduce_uninit();
    cb_push_back(to, 1);
    cb_wait_front(to, 1);
}

void kernel_main() {
    const uint32_t rows = get_arg_val<uint32_t>(0);
    compute_kernel_hw_startup(0, 1, 2);
    cb_wait_front(1, 1);
    for (uint32_t r = 0; r < rows; ++r) {
        reduce_row<PoolType::MAX>(0, 3);

        reconfig_data_format(0, 3);
        sub_bcast_cols_init(0, 3);
        exp_tile_init();
        for (uint32_t i = 0; i < width; ++i) {
            cb_reserve_back(4, 1);
            tile_regs_acquire();
            sub_tiles_bcast_cols(0, 3, i, 0, 0);
            exp_tile(0);
            tile_regs_commit();
            tile_regs_wait();
            pack_tile(0, 4);
            tile_regs_release();
            cb_push_back(4, 1);
        }
        cb_pop_front(0, width);
        cb_pop_front(3, 1);

        reduce_row<PoolType::SUM>(4, 5);

        reconfig_data_format(4, 5);
        mul_bcast_cols_init(4, 5);
        for (uint32_t i = 0; i < width; ++i) {
            cb_reserve_back(2, 1);
            tile_regs_acquire();
            mul_tiles_bcast_cols(4, 5, i, 0, 0);
            tile_regs_commit();
            tile_regs_wait();
            pack_tile(0, 2);
            tile_regs_release();
            cb_push_back(2, 1);
        }
        cb_pop_front(4, width);
        cb_pop_front(5, 1);
    }
    cb_pop_front(1, 1);
}
