// x1 = x + o in bf16, its sum of squares for the exchange, and x1 * gamma / rms(x1).
//
// Compile-time args   residual, 1 / hidden and epsilon as bits of an fp32, gather tiles
// Runtime args        n, whether this core leads its tile row
#include "../shared/compute.h"
#include "cbs.h"

void kernel_main() {
    constexpr bool residual = get_compile_time_arg_val(0);
    constexpr uint32_t scale = get_compile_time_arg_val(1), eps = get_compile_time_arg_val(2);
    constexpr uint32_t gather_tiles = get_compile_time_arg_val(3);
    const uint32_t n = get_arg_val<uint32_t>(0);
    const bool leads = get_arg_val<uint32_t>(1);
    if (n == 0) return;

    if constexpr (residual) {
        DeviceZoneScopedN("add");
        compute_kernel_hw_startup(CB_X, CB_O, CB_X1);
        add_init(CB_X, CB_O);
        cb_wait_front(CB_X, n);
        cb_wait_front(CB_O, n);
        cb_reserve_back(CB_X1, n);
        cb_reserve_back(CB_X1_OUT, n);
        for (uint32_t i = 0; i < n; ++i) {
            tile_regs_acquire();
            add_tiles(CB_X, CB_O, i, i, 0);
            tile_regs_commit();
            tile_regs_wait();
            pack_tile(0, CB_X1);
            pack_tile(0, CB_X1_OUT);
            tile_regs_release();
        }
        cb_push_back(CB_X1, n);
        cb_push_back(CB_X1_OUT, n);
        cb_pop_front(CB_X, n);
        cb_pop_front(CB_O, n);
    } else {
        compute_kernel_hw_startup(CB_X1, CB_X1, CB_SQUARES);
    }

    {
        DeviceZoneScopedN("sum of squares");
        square_tiles(CB_X1, n, CB_SQUARES);
        sum_rows(CB_SQUARES, CB_ONES, n, CB_PARTIAL, [] {});
    }

    // While the sums travel.
    {
        DeviceZoneScopedN("times gamma");
        reconfig_data_format(CB_X1, CB_GAMMA);
        pack_reconfig_data_format(CB_WEIGHTED);
        mul_bcast_rows_init(CB_X1, CB_GAMMA);
        cb_wait_front(CB_GAMMA, n);
        for (uint32_t i = 0; i < n; ++i) {
            push_tile(CB_WEIGHTED, [&] { mul_tiles_bcast_rows(CB_X1, CB_GAMMA, i, i, 0); });
        }
        cb_pop_front(CB_X1, n);
        cb_pop_front(CB_GAMMA, n);
    }

    if (leads) {
        DeviceZoneScopedN("1 / rms of all");
        reconfig_data_format(CB_GATHER, CB_ONES);
        pack_reconfig_data_format(CB_TOTAL);
        reduce_init<PoolType::SUM, ReduceDim::REDUCE_COL>(CB_GATHER, CB_ONES, CB_TOTAL);
        cb_wait_front(CB_GATHER, gather_tiles);
        push_tile(CB_TOTAL, [&] {
            for (uint32_t i = 0; i < gather_tiles; ++i) {
                reduce_tile<PoolType::SUM, ReduceDim::REDUCE_COL>(CB_GATHER, CB_ONES, i, 0, 0);
            }
            inverse_rms(scale, eps);
        });
        reduce_uninit();
        cb_pop_front(CB_GATHER, gather_tiles);
    }
    cb_pop_front(CB_ONES, 1);

    DeviceZoneScopedN("times 1 / rms");
    reconfig_data_format(CB_WEIGHTED, CB_FACTOR);
    pack_reconfig_data_format(CB_OUT);
    mul_bcast_cols_init(CB_WEIGHTED, CB_FACTOR);
    cb_wait_front(CB_WEIGHTED, n);
    cb_wait_front(CB_FACTOR, 1);
    for (uint32_t i = 0; i < n; ++i) {
        push_tile(CB_OUT, [&] { mul_tiles_bcast_cols(CB_WEIGHTED, CB_FACTOR, i, 0, 0); });
    }
    cb_pop_front(CB_WEIGHTED, n);
    cb_pop_front(CB_FACTOR, 1);
}
