// x times the core's share of wqkv, blocks of K as they come; then, for its own tile rows, the sum over the slices of
// K, and of that: queries and keys normed and rotated, values divided by the rms of x.
//
// gamma of the input norm is in the weights, so what is summed is z = rms(x) * (the head). For queries and keys that
// scale cancels but for epsilon: z / rms(x) / rms(z / rms(x)) = z / sqrt(mean z^2 + epsilon * (mean x^2 + epsilon)).
//
// Compile-time args   query heads, key heads, d, tile rows, slices of K, K tiles of a block, then as bits of an fp32
//                     1 / head_dim, epsilon^2, 1 / hidden, epsilon
// Runtime args        first head, heads, slice, first block, blocks
#include "../shared/rotary.h"
#include "api/compute/matmul.h"
#include "api/compute/tile_move_copy.h"
#include "cbs.h"
#include "share.h"

constexpr uint32_t heads = get_compile_time_arg_val(0), kv_heads = get_compile_time_arg_val(1);
constexpr uint32_t d = get_compile_time_arg_val(2), rows = get_compile_time_arg_val(3);
constexpr uint32_t slices = get_compile_time_arg_val(4), block = get_compile_time_arg_val(5);
constexpr uint32_t head_scale = get_compile_time_arg_val(6), head_eps = get_compile_time_arg_val(7);
constexpr uint32_t x_scale = get_compile_time_arg_val(8), x_eps = get_compile_time_arg_val(9);
constexpr uint32_t part = d + 1;  // tiles of a partial row

// n tiles of DEST, from 0 on, into the reserved pages of a buffer.
ALWI void pack_at(uint32_t cb, uint32_t first, uint32_t n) {
    tile_regs_commit();
    tile_regs_wait();
    for (uint32_t i = 0; i < n; ++i) pack_tile<true>(i, cb, first + i);
    tile_regs_release();
}

// Where the part of a row goes: own rows and others count separately.
ALWI Tiles target(const Share<rows, slices>& share, uint32_t row) {
    const uint32_t own = share.own_before(row);
    return share.owns(row) ? Tiles{CB_OWN, own * part} : Tiles{CB_SEND, (row - own) * part};
}

// The squares of x over the slice, into the last tile of each part.
ALWI void square_x(const Share<rows, slices>& share, uint32_t first_k, uint32_t k_tiles) {
    reconfig_data_format(CB_X, CB_X);
    mul_init(CB_X, CB_X);
    cb_wait_front(CB_X, (first_k + k_tiles) * rows);
    for (uint32_t row = 0; row < rows; ++row) {
        tile_regs_acquire();
        for (uint32_t k = first_k; k < first_k + k_tiles; ++k) mul_tiles(CB_X, CB_X, k * rows + row, k * rows + row, 0);
        const Tiles to = target(share, row);
        pack_at(to.cb, to.first + d, 1);
    }
}

// Tile rows of one block times d columns, added to the parts.
ALWI void multiply_row(const Tiles& to, uint32_t row, uint32_t first_k) {
    tile_regs_acquire();
    for (uint32_t k = 0; k < block; ++k) {
        matmul_block(CB_X, CB_W, (first_k + k) * rows + row, k * d, 0, false, d, 1, 1);
    }
    pack_at(to.cb, to.first, d);
}

// Done once, while weights stream: what needs none of them.
ALWI void meanwhile(const Share<rows, slices>& share, Kind kind, uint32_t first_k, uint32_t k_tiles) {
    pack_reconfig_l1_acc(0);
    square_x(share, first_k, k_tiles);
    if (kind == Kind::Value) return;
    cb_wait_front(CB_TABLES, (2 * rows + 2) * d);
    const Tiles gamma{CB_TABLES, (2 * rows + (kind == Kind::Key)) * d};
    for (uint32_t row = share.slice; row < rows; row += slices) {
        const Tiles cos{CB_TABLES, row * d}, sin{CB_TABLES, (rows + row) * d};
        fold_gamma<d>(cos, sin, gamma, CB_COS_GAMMA, CB_SIN_GAMMA);
    }
}

ALWI void start_products() {
    reconfig_data_format(CB_W, CB_X);
    pack_reconfig_data_format(CB_OWN);
    matmul_block_init(CB_X, CB_W, false, d, 1, 1);
}

// All blocks of a head. The parts that leave are finished first.
ALWI void multiply(const Share<rows, slices>& share, Kind kind, uint32_t first_block, uint32_t blocks) {
    const uint32_t others = rows - share.own_rows();
    if (others) cb_reserve_back(CB_SEND, others * part);
    cb_reserve_back(CB_OWN, share.own_rows() * part);
    start_products();
    for (uint32_t b = 0; b < blocks; ++b) {
        const uint32_t first_k = (first_block + b) * block;
        if (b == blocks / 2) {
            meanwhile(share, kind, first_block * block, blocks * block);
            start_products();
        }
        if (b <= 1 || b == blocks / 2) pack_reconfig_l1_acc(b > 0);
        cb_wait_front(CB_X, (first_k + block) * rows);
        cb_wait_front(CB_W, block * d);
        for (uint32_t own = 0; own < 2; ++own) {
            for (uint32_t row = 0; row < rows; ++row) {
                if (share.owns(row) == bool(own)) multiply_row(target(share, row), row, first_k);
            }
            if (b + 1 == blocks && !own && others) cb_push_back(CB_SEND, others * part);
        }
        cb_pop_front(CB_W, block * d);
    }
}

// Adds the parts of the other slices to the own rows.
ALWI void gather(uint32_t own_rows) {
    pack_reconfig_l1_acc(1);
    reconfig_data_format_srca(CB_RECEIVED);
    copy_init(CB_RECEIVED);
    for (uint32_t row = 0; row < own_rows; ++row) {
        for (uint32_t from = 0; from < slices - 1; ++from) {
            cb_wait_front(CB_RECEIVED, part);
            for (uint32_t first = 0; first < part; first += 4) {
                const uint32_t n = part - first < 4 ? part - first : 4;
                tile_regs_acquire();
                for (uint32_t i = 0; i < n; ++i) copy_tile(CB_RECEIVED, first + i, i);
                pack_at(CB_OWN, row * part + first, n);
            }
            cb_pop_front(CB_RECEIVED, part);
        }
    }
}

// Column 0 of CB_FACTOR: for queries and keys from the squares of the head and of x, for values from those of x alone.
ALWI void make_factor(bool normed) {
    if (normed) sum_squares(CB_OWN, 0, d, CB_SQUARES);
    reconfig_data_format(CB_SCALERS, CB_OWN);
    pack_reconfig_data_format(CB_FACTOR);
    reduce_init<PoolType::SUM, ReduceDim::REDUCE_ROW>(CB_OWN, CB_SCALERS, CB_FACTOR);
    cb_wait_front(CB_SCALERS, 2);
    if (normed) cb_wait_front(CB_SQUARES, 1);
    push_tile(CB_FACTOR, [&] {
        if (normed) {
            reduce_tile<PoolType::SUM, ReduceDim::REDUCE_ROW>(CB_SQUARES, CB_SCALERS, 0, 0, 0);
            reduce_tile<PoolType::SUM, ReduceDim::REDUCE_ROW>(CB_OWN, CB_SCALERS, d, 1, 0);
            inverse_rms(head_scale, head_eps);
        } else {
            reduce_tile<PoolType::SUM, ReduceDim::REDUCE_ROW>(CB_OWN, CB_SCALERS, d, 0, 0);
            inverse_rms(x_scale, x_eps);
        }
    });
    reduce_uninit();
    if (normed) cb_pop_front(CB_SQUARES, 1);
}

// The front row of CB_OWN, complete, to q or a cache.
ALWI void finish(Kind kind) {
    cb_wait_front(CB_OWN, part);
    make_factor(kind != Kind::Value);
    const uint32_t out = kind == Kind::Query ? CB_Q : CB_CACHE;
    if (kind == Kind::Value) {
        scale_rows<d>(CB_OWN, CB_FACTOR, out);
    } else {
        cb_wait_front(CB_COS_GAMMA, d);
        cb_wait_front(CB_SIN_GAMMA, d);
        rotate<d>(CB_OWN, CB_COS_GAMMA, CB_SIN_GAMMA, CB_ROTATED);
        cb_pop_front(CB_COS_GAMMA, d);
        cb_pop_front(CB_SIN_GAMMA, d);
        cb_wait_front(CB_ROTATED, d);
        scale_rows<d>(CB_ROTATED, CB_FACTOR, out);
        cb_pop_front(CB_ROTATED, d);
    }
    cb_pop_front(CB_OWN, part);
}

void kernel_main() {
    const uint32_t first = get_arg_val<uint32_t>(0), count = get_arg_val<uint32_t>(1);
    const Share<rows, slices> share{get_arg_val<uint32_t>(2)};
    const uint32_t first_block = get_arg_val<uint32_t>(3), blocks = get_arg_val<uint32_t>(4);
    if (count == 0) return;

    compute_kernel_hw_startup(CB_X, CB_W, CB_OWN);
    for (uint32_t column = first; column < first + count; ++column) {
        const Head head = head_at<heads, kv_heads>(column);
        multiply(share, head.kind, first_block, blocks);
        if constexpr (slices > 1) gather(share.own_rows());
        pack_reconfig_l1_acc(0);
        cb_push_back(CB_OWN, share.own_rows() * part);
        for (uint32_t row = 0; row < share.own_rows(); ++row) finish(head.kind);
    }
}
