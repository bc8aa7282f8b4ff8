// x1 = x + o in bf16, its sum of squares for the exchange, and x1 * gamma / rms(x1).
//
// Compile-time args   residual, 1 / hidden and epsilon as bits of an fp32
// Runtime args        n, whether this core leads its tile row
#include "../shared/compute.h"
#include "api/compute/compute_kernel_api.h"
#include "api/compute/matmul.h"
#include "api/compute/transpose.h"
#include "cbs.h"

void kernel_main() {
    constexpr bool residual = get_compile_time_arg_val(0);
    constexpr uint32_t scale = get_compile_time_arg_val(1), eps = get_compile_time_arg_val(2);
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

    cb_wait_front(CB_X1, n);
    cb_wait_front(CB_GAMMA, n);
    {
        DeviceZoneScopedN("sum of squares");
        sum_squares(CB_X1, 1, n, CB_SQUARES);
        // Ones times the squares, turned: every row with ones becomes a row of sums, in one piece for a transfer.
        reconfig_data_format(CB_SQUARES, CB_GAMMA);
        pack_reconfig_data_format(CB_PARTIAL);
        matmul_init(CB_GAMMA, CB_SQUARES, true);
        cb_wait_front(CB_SQUARES, 1);
        push_tile(CB_PARTIAL, [] { matmul_tiles(CB_GAMMA, CB_SQUARES, 0, 0, 0); });
        cb_pop_front(CB_SQUARES, 1);
    }

    // While the sums travel.
    {
        DeviceZoneScopedN("times gamma");
        reconfig_data_format(CB_X1, CB_GAMMA);
        pack_reconfig_data_format(CB_WEIGHTED);
        mul_bcast_rows_init(CB_X1, CB_GAMMA);
        push_tiles(CB_WEIGHTED, n, [](uint32_t i, uint32_t dst) { mul_tiles_bcast_rows(CB_X1, CB_GAMMA, i, i, dst); });
        cb_pop_front(CB_X1, n);
        cb_pop_front(CB_GAMMA, n);
    }

    if (leads) {
        DeviceZoneScopedN("1 / rms of all");
        reconfig_data_format_srca(CB_GATHER);
        pack_reconfig_data_format(CB_TOTAL);
        transpose_init(CB_GATHER);
        cb_wait_front(CB_GATHER, 1);
        cb_reserve_back(CB_TOTAL, 1);
        cb_reserve_back(CB_FACTOR, 1);
        tile_regs_acquire();
        transpose_tile(CB_GATHER, 0, 0);
        sfpu_reduce_init<PoolType::SUM, DataFormat::Float32>();
        sfpu_reduce<PoolType::SUM, DataFormat::Float32, ReduceDim::REDUCE_ROW>(0);
        inverse_rms(scale, eps);
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, CB_TOTAL);
        cb_push_back(CB_TOTAL, 1);
        pack_tile(0, CB_FACTOR);
        cb_push_back(CB_FACTOR, 1);
        tile_regs_release();
        cb_pop_front(CB_GATHER, 1);
    }

    DeviceZoneScopedN("times 1 / rms");
    reconfig_data_format(CB_WEIGHTED, CB_FACTOR);
    pack_reconfig_data_format(CB_OUT);
    mul_bcast_cols_init(CB_WEIGHTED, CB_FACTOR);
    cb_wait_front(CB_WEIGHTED, n);
    cb_wait_front(CB_FACTOR, 1);
    push_tiles(CB_OUT, n, [](uint32_t i, uint32_t dst) { mul_tiles_bcast_cols(CB_WEIGHTED, CB_FACTOR, i, 0, dst); });
    cb_pop_front(CB_WEIGHTED, n);
    cb_pop_front(CB_FACTOR, 1);
}
