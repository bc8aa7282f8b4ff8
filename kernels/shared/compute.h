// What the compute kernels share.
#pragma once

#include "api/compute/bcast.h"
#include "api/compute/cb_api.h"
#include "api/compute/common.h"
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_binary.h"
#include "api/compute/eltwise_unary/binop_with_scalar.h"
#include "api/compute/eltwise_unary/rsqrt.h"
#include "api/compute/pack.h"
#include "api/compute/reconfig_data_format.h"
#include "api/compute/reduce.h"
#include "api/compute/reg_api.h"
#include "api/compute/tile_move_copy.h"
#include "api/debug/kernel_profiler.hpp"
#include "once.h"

// The first n tiles of DEST to the next pages of `cb`, or to the reserved ones from `first` on.
ONCE inline void pack_next(uint32_t cb, uint32_t n) {
    for (uint32_t i = 0; i < n; ++i) pack_tile(i, cb);
}
ONCE inline void pack_at(uint32_t cb, uint32_t first, uint32_t n) {
    for (uint32_t i = 0; i < n; ++i) pack_tile<true>(i, cb, first + i);
}

// The circular buffers' own, once.
ONCE inline void reserve_back(uint32_t cb, uint32_t n) { cb_reserve_back(cb, n); }
ONCE inline void push_back(uint32_t cb, uint32_t n) { cb_push_back(cb, n); }
ONCE inline void pop_front(uint32_t cb, uint32_t n) { cb_pop_front(cb, n); }

// A tile of `cb` to DEST, and what goes before the first.
SMALL inline void start_copying(uint32_t cb) {
    reconfig_data_format_srca(cb);
    copy_init(cb);
}
ONCE inline void copy_one(uint32_t cb, uint32_t tile, uint32_t dst) { copy_tile(cb, tile, dst); }

// A tile of DEST: 1 / its root.
ONCE inline void invert_root(uint32_t dst) { rsqrt_tile(dst); }

// One tile through DEST: `compute` leaves it in DEST tile 0, and it is packed and pushed to `cb`.
template <typename Compute>
ALWI void push_tile(uint32_t cb, Compute compute) {
    reserve_back(cb, 1);
    tile_regs_acquire();
    compute();
    tile_regs_commit();
    tile_regs_wait();
    pack_next(cb, 1);
    tile_regs_release();
    push_back(cb, 1);
}

// n tiles through DEST, four at a time (half of an fp32 DEST): `compute(i, dst)` leaves tile i in DEST tile dst.
template <typename Compute>
ALWI void push_tiles(uint32_t cb, uint32_t n, Compute compute) {
    for (uint32_t first = 0; first < n; first += 4) {
        const uint32_t group = n - first < 4 ? n - first : 4;
        reserve_back(cb, group);
        tile_regs_acquire();
        for (uint32_t i = 0; i < group; ++i) compute(first + i, i);
        tile_regs_commit();
        tile_regs_wait();
        pack_next(cb, group);
        tile_regs_release();
        push_back(cb, group);
    }
}

// For each of `rows` tile rows of `in`, n tiles each, one tile: their squares, summed tile on tile, for a product adds
// to what DEST holds. `in` stays.
ALWI void sum_squares(uint32_t in, uint32_t rows, uint32_t n, uint32_t out) {
    reconfig_data_format(in, in);
    pack_reconfig_data_format(out);
    mul_init(in, in);
    push_tiles(out, rows, [&](uint32_t row, uint32_t dst) {
        for (uint32_t i = row * n; i < (row + 1) * n; ++i) mul_tiles(in, in, i, i, dst);
    });
}

// Squares of the n front tiles of `in`, which stay there.
ALWI void square_tiles(uint32_t in, uint32_t n, uint32_t squares) {
    reconfig_data_format(in, in);
    pack_reconfig_data_format(squares);
    mul_init(in, in);
    cb_wait_front(in, n);
    for (uint32_t i = 0; i < n; ++i) push_tile(squares, [&] { mul_tiles(in, in, i, i, 0); });
}

// Sums of n tiles along rows into column 0 of one tile, then `finish` on DEST tile 0.
template <typename Finish>
ALWI void sum_rows(uint32_t in, uint32_t ones, uint32_t n, uint32_t out, Finish finish) {
    reconfig_data_format(ones, in);  // sums along rows have the scaler in SrcA
    pack_reconfig_data_format(out);
    reduce_init<PoolType::SUM, ReduceDim::REDUCE_ROW>(in, ones, out);
    cb_wait_front(ones, 1);
    cb_wait_front(in, n);
    push_tile(out, [&] {
        for (uint32_t i = 0; i < n; ++i) reduce_tile<PoolType::SUM, ReduceDim::REDUCE_ROW>(in, ones, i, 0, 0);
        finish();
    });
    reduce_uninit();
    pop_front(in, n);
}

// DEST tile 0, a sum of squares: 1 / sqrt(sum * scale + eps). Both are the bits of an fp32.
ALWI void inverse_rms(uint32_t scale, uint32_t eps) {
    binop_with_scalar_tile_init();
    mul_unary_tile(0, scale);
    add_unary_tile(0, eps);
    rsqrt_tile_init();
    invert_root(0);
}
