// The norm of a tile row on one core, without gamma.
#pragma once

#include "compute.h"
#include "norm_leader.h"

// CB_ROW, as it arrives, divided by its rms, into the tiles of CB_H from `first` on. scale: 1 / columns of a row; it
// and eps are the bits of an fp32.
template <uint32_t rows, uint32_t hidden, uint32_t scale, uint32_t eps>
ALWI void norm_row(uint32_t first) {
    DeviceZoneScopedN("norm");
    reconfig_data_format(CB_ROW, CB_ROW);
    pack_reconfig_data_format(CB_SQUARES);
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
    cb_push_back(CB_H, rows * hidden);  // the other rows are for the others
    cb_pop_front(CB_FACTOR, 1);
    cb_pop_front(CB_ROW, hidden);
}

// The own tile row. After compute_kernel_hw_startup(CB_ROW, CB_ROW, CB_SQUARES).
//
// Compile-time args   rows, hidden, 1 / columns of a row and epsilon as bits of an fp32
// Runtime args        tile row
ALWI void norm_own_row() {
    constexpr uint32_t rows = get_compile_time_arg_val(0), hidden = get_compile_time_arg_val(1);
    constexpr uint32_t scale = get_compile_time_arg_val(2), eps = get_compile_time_arg_val(3);
    norm_row<rows, hidden, scale, eps>(get_arg_val<uint32_t>(0) * hidden);
}
