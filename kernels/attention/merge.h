// What an owner does with the partial results of all workers of a head: out = sum of fade(w) sums(w), over the sum of
// fade(w) totals(w), where fade(w) = exp(scale (top(w) - the greatest top)). The fades lose bits on the way into a
// product, the same ones above and below the fraction bar.
#pragma once

#include "api/compute/eltwise_binary_sfpu.h"
#include "api/compute/eltwise_unary/recip.h"
#include "flash.h"

namespace attention {

// CB_MERGED_TOP = the greatest of the tops [active][r] of row i, in column 0.
template <uint32_t r>
ALWI void push_merged_top(uint32_t i, uint32_t active) {
    start_copying(CB_TOPS);
    pack_reconfig_data_format(CB_MERGED_TOP);
    binary_max_tile_init();
    reserve_back(CB_MERGED_TOP, 1);
    tile_regs_acquire();
    copy_one(CB_TOPS, i, 0);
    for (uint32_t w = 1; w < active; ++w) {
        copy_one(CB_TOPS, w * r + i, 1);
        binary_max_tile(0, 1, 0);
    }
    pack_row(CB_MERGED_TOP, 0, 1);
    push_back(CB_MERGED_TOP, 1);
}

// CB_FACTORS[i] = the fade of each worker for row i, in column 0.
template <uint32_t W, uint32_t r, uint16_t scale>
ALWI void push_factors(uint32_t i, uint32_t active) {
    reconfig_data_format(CB_TOPS, CB_MERGED_TOP);
    pack_reconfig_data_format(CB_FACTORS);
    sub_init(CB_TOPS, CB_MERGED_TOP);
    exp_tile_init<false>();
    cb_wait_front(CB_MERGED_TOP, 1);
    reserve_back(CB_FACTORS, W);
    for (uint32_t first = 0; first < active; first += DEST_TILES) {
        const uint32_t n = at_most(active - first, DEST_TILES);
        tile_regs_acquire();
        for (uint32_t w = 0; w < n; ++w) {
            sub_tiles(CB_TOPS, CB_MERGED_TOP, (first + w) * r + i, 0, w);
            exp_tile<false, true>(w, VectorMode::C, scale);
        }
        pack_row(CB_FACTORS, first, n);
    }
    push_back(CB_FACTORS, W);
    pop_front(CB_MERGED_TOP, 1);
}

// CB_INVERSE = 1 / total of row i, in all columns.
template <uint32_t W, uint32_t r>
ALWI void push_inverse(uint32_t i, uint32_t active) {
    reconfig_data_format(CB_TOTALS, CB_FACTORS);
    pack_reconfig_data_format(CB_INVERSE);
    mul_bcast_cols_init(CB_TOTALS, CB_FACTORS);
    recip_tile_init();
    cb_wait_front(CB_FACTORS, (i + 1) * W);
    reserve_back(CB_INVERSE, 1);
    tile_regs_acquire();
    for (uint32_t w = 0; w < active; ++w) mul_tiles_bcast_cols(CB_TOTALS, CB_FACTORS, w * r + i, i * W + w, 0);
    recip_tile(0);
    pack_row(CB_INVERSE, 0, 1);
    push_back(CB_INVERSE, 1);
}

// CB_OUT = row i of the output, c tiles.
template <uint32_t W, uint32_t r, uint32_t c>
ALWI void push_output(uint32_t i, uint32_t active) {
    constexpr uint32_t together = DEST_TILES - 1;  // the last tile of DEST holds the inverse
    pack_reconfig_data_format(CB_OUT);
    mul_binary_tile_init();
    cb_wait_front(CB_INVERSE, 1);
    reserve_back(CB_OUT, c);
    for (uint32_t first = 0; first < c; first += together) {
        const uint32_t n = at_most(c - first, together);
        tile_regs_acquire();
        reconfig_data_format(CB_SUMS, CB_FACTORS);
        mul_bcast_cols_init(CB_SUMS, CB_FACTORS);
        for (uint32_t w = 0; w < active; ++w) {
            for (uint32_t j = 0; j < n; ++j) {
                mul_tiles_bcast_cols(CB_SUMS, CB_FACTORS, (w * r + i) * c + first + j, w, j);
            }
        }
        start_copying(CB_INVERSE);
        copy_one(CB_INVERSE, 0, together);
        for (uint32_t j = 0; j < n; ++j) mul_binary_tile(j, together, j);
        pack_row(CB_OUT, first, n);
    }
    push_back(CB_OUT, c);
    pop_front(CB_INVERSE, 1);
    pop_front(CB_FACTORS, W);
}

// For the `rows` rows that a core owns: what each of the `active` workers counts for.
template <uint32_t W, uint32_t r, uint16_t scale>
ALWI void merge_tops(uint32_t rows, uint32_t active) {
    DeviceZoneScopedN("merge tops");
    cb_wait_front(CB_TOPS, W * r);
    for (uint32_t i = 0; i < rows; ++i) {
        push_merged_top<r>(i, active);
        push_factors<W, r, scale>(i, active);
    }
    pop_front(CB_TOPS, W * r);
}

// The rows themselves, c tiles each: the totals while the sums travel.
template <uint32_t W, uint32_t r, uint32_t c>
ALWI void merge_sums(uint32_t rows, uint32_t active) {
    DeviceZoneScopedN("merge");
    cb_wait_front(CB_TOTALS, W * r);
    for (uint32_t i = 0; i < rows; ++i) push_inverse<W, r>(i, active);
    pop_front(CB_TOTALS, W * r);
    cb_wait_front(CB_SUMS, W * r * c);
    for (uint32_t i = 0; i < rows; ++i) push_output<W, r, c>(i, active);
    pop_front(CB_SUMS, W * r * c);
}

}  // namespace attention
