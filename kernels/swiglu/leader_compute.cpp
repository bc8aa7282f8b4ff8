// A tile row of x1 divided by its rms, where it belongs in CB_H; gamma is in the weights.
//
// Compile-time args   rows, hidden, 1 / columns of x1 and epsilon as bits of an fp32
// Runtime args        tile row
#include "../shared/compute.h"
#include "cbs.h"

void kernel_main() {
    constexpr uint32_t rows = get_compile_time_arg_val(0), hidden = get_compile_time_arg_val(1);
    constexpr uint32_t scale = get_compile_time_arg_val(2), eps = get_compile_time_arg_val(3);
    const uint32_t first = get_arg_val<uint32_t>(0) * hidden;

    compute_kernel_hw_startup(CB_ROW, CB_ROW, CB_SQUARES);
    mul_init(CB_ROW, CB_ROW);
    push_tile(CB_SQUARES, [&] {  // a product adds to what DEST holds
        for (uint32_t k = 0; k < hidden; ++k) {
            cb_wait_front(CB_ROW, k + 1);
            mul_tiles(CB_ROW, CB_ROW, k, k, 0);
        }
    });
    sum_rows(CB_SQUARES, CB_ONES, 1, CB_FACTOR, [] { inverse_rms(scale, eps); });

    reconfig_data_format(CB_ROW, CB_FACTOR);
    pack_reconfig_data_format(CB_H);
    mul_bcast_cols_init(CB_ROW, CB_FACTOR);
    cb_wait_front(CB_FACTOR, 1);
    cb_reserve_back(CB_H, rows * hidden);
    for (uint32_t k = 0; k < hidden; ++k) {
        tile_regs_acquire();
        mul_tiles_bcast_cols(CB_ROW, CB_FACTOR, k, 0, 0);
        tile_regs_commit();
        tile_regs_wait();
        pack_tile<true>(0, CB_H, first + k);
        tile_regs_release();
    }
    cb_push_back(CB_H, rows * hidden);  // the others' rows come from them
    cb_pop_front(CB_FACTOR, 1);
    cb_pop_front(CB_ROW, hidden);
}
