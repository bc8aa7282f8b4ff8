// One worker's attention over its rows of K and V, in blocks of up to B tile rows: scores of all queries, their row
// maxima, weights, and weights times V. All loops are over the n tile rows a block really has.
//
// R: tile rows of queries, D: head_dim in tiles. A block's K and V are pushed whole, B D pages, whatever n is, so that
// no chunk wraps.
#pragma once

#include "../shared/compute.h"
#include "../shared/matmul.h"
#include "api/compute/binary_max_min.h"
#include "api/compute/eltwise_unary/exp.h"
#include "api/compute/matmul.h"
#include "api/compute/tile_move_copy.h"
#include "api/debug/kernel_profiler.hpp"
#include "cbs.h"
#include "rows.h"

namespace attention {

constexpr uint32_t NO_CB = ~0u;
constexpr uint32_t DEST_TILES = 4;  // fp32, half of DEST
static_assert(CHUNK <= DEST_TILES);

constexpr uint32_t at_most(uint32_t n, uint32_t limit) { return n < limit ? n : limit; }

// DEST -> tiles first, first + 1, ... of the reserved pages of `cb`.
ALWI void pack_row(uint32_t cb, uint32_t first, uint32_t n) {
    tile_regs_commit();
    tile_regs_wait();
    pack_at(cb, first, n);
    tile_regs_release();
}

// CB_TOP = the row maxima of a chunk of scores, and of `old` if there is one; CB_TOP itself is replaced. And once more
// in `out`, if there is one.
template <uint32_t R>
ALWI void push_tops(uint32_t first, uint32_t width, uint32_t old, uint32_t out) {
    DeviceZoneScopedN("tops");
    pack_reconfig_data_format(CB_TOP);
    cb_wait_front(CB_SCORES, R * (first + width));
    reserve_back(CB_TOP, R);
    if (out != NO_CB) reserve_back(out, R);
    if (old != NO_CB) cb_wait_front(old, R);
    for (uint32_t r = 0; r < R; r += 2) {
        const uint32_t rows = at_most(R - r, 2);
        tile_regs_acquire();
        reconfig_data_format(CB_SCORES, CB_ONES);
        reduce_init<PoolType::MAX, ReduceDim::REDUCE_ROW>(CB_SCORES, CB_ONES, CB_TOP);
        for (uint32_t i = 0; i < rows * width; ++i) {
            const uint32_t tile = R * first + r * width + i;
            reduce_tile<PoolType::MAX, ReduceDim::REDUCE_ROW>(CB_SCORES, CB_ONES, tile, 0, i / width);
        }
        if (old != NO_CB) {
            start_copying(old);
            binary_max_tile_init();
            for (uint32_t i = 0; i < rows; ++i) {
                copy_one(old, r + i, 2 + i);
                binary_max_tile(i, 2 + i, i);
            }
        }
        tile_regs_commit();
        tile_regs_wait();
        pack_next(CB_TOP, rows);
        if (out != NO_CB) pack_next(out, rows);
        tile_regs_release();
        reduce_uninit();
    }
    push_back(CB_TOP, R);
    if (out != NO_CB) push_back(out, R);
    if (old == CB_TOP) pop_front(CB_TOP, R);
}

// CB_SCORES[r][i] = q[r] k[i]^T for a chunk. In the partial tile row, where K holds zeros past the valid rows, the
// scores there become hugely negative.
template <uint32_t R, uint32_t D>
ALWI void push_scores(uint32_t first, uint32_t width, uint32_t partial) {
    DeviceZoneScopedN("scores");
    const bool masked = partial - first < width;
    cb_wait_front(CB_K, (first + width) * D);
    reconfig_data_format(CB_K, CB_Q);
    pack_reconfig_data_format(CB_SCORES);
    init_products(CB_Q, CB_K, 1, width, 1, D);
    reserve_back(CB_SCORES, R * width);
    for (uint32_t r = 0; r < R; ++r) {
        tile_regs_acquire();
        for (uint32_t k = 0; k < D; ++k) {
            matmul_block(CB_Q, CB_K, r * D + k, first * D + k * width, 0, 1, width, 1, D);
        }
        if (masked) {
            cb_wait_front(CB_MASK, 1);
            reconfig_data_format_srca(CB_K, CB_MASK);
            init_products(CB_ONES, CB_MASK, 1, 1, 1, 1);
            matmul_block(CB_ONES, CB_MASK, 0, 0, partial - first, 1, 1, 1, 1);
            reconfig_data_format_srca(CB_MASK, CB_K);
            init_products(CB_Q, CB_K, 1, width, 1, D);
        }
        pack_row(CB_SCORES, r * width, width);
    }
    if (masked) pop_front(CB_MASK, 1);
    push_back(CB_SCORES, R * width);
}

// The scores of a block chunk by chunk as K comes, and CB_TOP, the row maxima, of the blocks before too if it
// continues. `out` gets them too.
template <uint32_t R, uint32_t D, uint32_t B>
ALWI void push_all_scores(uint32_t n, uint32_t partial, bool continues, uint32_t out) {
    uint32_t old = continues ? CB_OLD_TOP : NO_CB;
    cb_wait_front(CB_Q, R * D);
    for (uint32_t first = 0; first < n; first += CHUNK) {
        const uint32_t width = at_most(n - first, CHUNK);
        push_scores<R, D>(first, width, partial);
        push_tops<R>(first, width, old, first + width == n ? out : NO_CB);
        old = CB_TOP;
    }
    cb_wait_front(CB_K, B * D);
    pop_front(CB_K, B * D);
    // Blocks are handled whole, so that no chunk wraps.
    reserve_back(CB_SCORES, R * (B - n));
    push_back(CB_SCORES, R * (B - n));
}

// CB_WEIGHTS = exp(scale (CB_SCORES - CB_TOP)). scale: the upper half of an fp32.
template <uint32_t R, uint32_t B, uint16_t scale>
ALWI void push_weights(uint32_t n) {
    DeviceZoneScopedN("weights");
    reconfig_data_format(CB_SCORES, CB_TOP);
    pack_reconfig_data_format(CB_WEIGHTS);
    sub_bcast_cols_init(CB_SCORES, CB_TOP);
    exp_tile_init<false>();
    cb_wait_front(CB_TOP, R);
    cb_wait_front(CB_SCORES, R * B);
    reserve_back(CB_WEIGHTS, R * B);
    for (uint32_t r = 0; r < R; ++r) {
        for (uint32_t first = 0; first < n; first += CHUNK) {
            const uint32_t width = at_most(n - first, CHUNK);
            tile_regs_acquire();
            for (uint32_t i = 0; i < width; ++i) {
                sub_tiles_bcast_cols(CB_SCORES, CB_TOP, R * first + r * width + i, r, i);
                exp_tile<false, true>(i, VectorMode::RC, scale);
            }
            pack_row(CB_WEIGHTS, r * B + first, width);
        }
    }
    push_back(CB_WEIGHTS, R * B);
    pop_front(CB_SCORES, R * B);
}

// CB_FADE = exp(scale (CB_OLD_TOP - CB_TOP)): what the blocks before count for.
template <uint32_t R, uint16_t scale>
ALWI void push_fades() {
    reconfig_data_format(CB_OLD_TOP, CB_TOP);
    pack_reconfig_data_format(CB_FADE);
    sub_init(CB_OLD_TOP, CB_TOP);
    exp_tile_init<false>();
    reserve_back(CB_FADE, R);
    for (uint32_t r = 0; r < R; ++r) {
        tile_regs_acquire();
        sub_tiles(CB_OLD_TOP, CB_TOP, r, r, 0);
        exp_tile<false, true>(0, VectorMode::C, scale);
        pack_row(CB_FADE, r, 1);
    }
    push_back(CB_FADE, R);
    pop_front(CB_OLD_TOP, R);
}

// DEST[i] = old[first + i] * fade[row], for n tiles.
ALWI void fade(uint32_t old, uint32_t first, uint32_t row, uint32_t n, uint32_t dst) {
    for (uint32_t i = 0; i < n; ++i) mul_tiles_bcast_cols(old, CB_FADE, first + i, row, dst + i);
}

// out[r] = the sum of the weights of each row, in all columns. A product with ones, so that it loses the bits that the
// product with V loses.
template <uint32_t R, uint32_t B>
ALWI void push_totals(uint32_t n, bool continues, uint32_t out) {
    DeviceZoneScopedN("totals");
    pack_reconfig_data_format(out);
    cb_wait_front(CB_WEIGHTS, R * B);
    reserve_back(out, R);
    if (continues) {
        cb_wait_front(CB_FADE, R);
        cb_wait_front(CB_OLD_TOTAL, R);
    }
    for (uint32_t first = 0; first < R; first += DEST_TILES) {
        const uint32_t rows = at_most(R - first, DEST_TILES);
        tile_regs_acquire();
        if (continues) {
            reconfig_data_format(CB_OLD_TOTAL, CB_FADE);
            mul_bcast_cols_init(CB_OLD_TOTAL, CB_FADE);
            for (uint32_t r = 0; r < rows; ++r) fade(CB_OLD_TOTAL, first + r, first + r, 1, r);
        }
        reconfig_data_format(CB_ONES, CB_WEIGHTS);
        init_products(CB_WEIGHTS, CB_ONES, 0, 1, rows, B);
        for (uint32_t i = 0; i < n; ++i) {
            matmul_block(CB_WEIGHTS, CB_ONES, first * B + i, 0, 0, 0, 1, rows, B);
        }
        pack_row(out, first, rows);
    }
    if (continues) pop_front(CB_OLD_TOTAL, R);
    push_back(out, R);
}

// out[r][c] = the weights times V. Chunks of V are added up by the packer, so they may come one by one; the last one is
// pushed row by row. `before_last`: what to do while it is on its way.
template <uint32_t R, uint32_t D, uint32_t B, typename Work>
ALWI void push_sums(uint32_t n, bool continues, uint32_t out, Work before_last) {
    DeviceZoneScopedN("sums");
    constexpr uint32_t rows = R % (DEST_TILES / D) == 0 ? DEST_TILES / D : 1;
    reserve_back(out, R * D);
    if (continues) cb_wait_front(CB_OLD_SUM, R * D);
    for (uint32_t first = 0; first < n; first += CHUNK) {
        const uint32_t height = at_most(n - first, CHUNK);
        const bool fades = continues && first == 0, last = first + height == n;
        if (last) before_last();
        if (last || first == 0) {
            reconfig_data_format(CB_V, CB_WEIGHTS);
            pack_reconfig_data_format(out);
            init_products(CB_WEIGHTS, CB_V, 0, D, rows, B);
        }
        pack_reconfig_l1_acc(first > 0);
        cb_wait_front(CB_V, (first + height) * D);
        for (uint32_t r = 0; r < R; r += rows) {
            tile_regs_acquire();
            if (fades) {
                reconfig_data_format(CB_OLD_SUM, CB_FADE);
                mul_bcast_cols_init(CB_OLD_SUM, CB_FADE);
                for (uint32_t i = 0; i < rows; ++i) fade(CB_OLD_SUM, (r + i) * D, r + i, D, i * D);
                reconfig_data_format(CB_V, CB_WEIGHTS);
                init_products(CB_WEIGHTS, CB_V, 0, D, rows, B);
            }
            for (uint32_t i = first; i < first + height; ++i) {
                matmul_block(CB_WEIGHTS, CB_V, r * B + i, i * D, 0, 0, D, rows, B);
            }
            pack_row(out, last ? 0 : r * D, rows * D);
            if (last) push_back(out, rows * D);
        }
        pack_reconfig_l1_acc(0);
    }
    cb_wait_front(CB_V, B * D);
    pop_front(CB_V, B * D);
    pop_front(CB_WEIGHTS, R * B);
    if (continues) {
        pop_front(CB_OLD_SUM, R * D);
        pop_front(CB_FADE, R);
    }
}

// One unit: the queries in CB_Q, which stay, over `rows` tile rows in blocks; partial results go to the CB_..._OUT.
// `before_last`: what to do while the last chunk of V is on its way.
template <uint32_t R, uint32_t D, uint32_t B, uint16_t scale, bool several, typename Work>
ALWI void attend(uint32_t rows, uint32_t partial, Work before_last) {
    for (uint32_t first = 0; first < rows; first += B) {
        const uint32_t n = at_most(rows - first, B);
        const bool continues = several && first > 0, last = first + n == rows;
        push_all_scores<R, D, B>(n, partial - first, continues, last ? CB_TOP_OUT : CB_OLD_TOP);
        push_weights<R, B, scale>(n);
        if (continues) push_fades<R, scale>();
        pop_front(CB_TOP, R);
        push_totals<R, B>(n, continues, last ? CB_TOTAL_OUT : CB_OLD_TOTAL);
        push_sums<R, D, B>(n, continues, last ? CB_SUM_OUT : CB_OLD_SUM, [&] {
            if (last) before_last();
        });
    }
}

}  // namespace attention
