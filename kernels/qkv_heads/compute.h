// x times the core's columns of wqkv: for some heads, all of their d tiles or half of them. Then queries and keys are
// normed and rotated, values divided by the rms of x.
//
// gamma of the input norm is in the weights, so what comes out is z = rms(x) * (the head). For queries and keys that
// scale cancels but for epsilon: z / rms(x) / rms(z / rms(x)) = z / sqrt(mean z^2 + epsilon * (mean x^2 + epsilon)).
//
// Compile-time args   query heads, key heads, d, tile rows, cores of a head, K tiles, K tiles of a slot, then as bits
//                     of an fp32 1 / hidden and epsilon / 32 / cores of a head
// Runtime args        first head, heads, part of the head, K tiles to be squared: first and end
#pragma once

#include "../shared/matmul.h"
#include "../shared/rotary.h"
#include "api/compute/eltwise_binary_sfpu.h"
#include "api/compute/matmul.h"
#include "api/compute/tile_move_copy.h"
#include "cbs.h"

namespace qkv {

constexpr uint32_t heads = get_compile_time_arg_val(QKV_ARGS + 0), kv_heads = get_compile_time_arg_val(QKV_ARGS + 1);
constexpr uint32_t d = get_compile_time_arg_val(QKV_ARGS + 2), rows = get_compile_time_arg_val(QKV_ARGS + 3);
constexpr uint32_t parts = get_compile_time_arg_val(QKV_ARGS + 4);
constexpr uint32_t k_tiles = get_compile_time_arg_val(QKV_ARGS + 5), slot = get_compile_time_arg_val(QKV_ARGS + 6);
constexpr uint32_t x_scale = get_compile_time_arg_val(QKV_ARGS + 7), x_eps = get_compile_time_arg_val(QKV_ARGS + 8);
constexpr uint32_t n = d / parts;
constexpr uint32_t group = n == 2 && rows % 2 == 0 ? 2 : 1;  // tile rows that DEST holds: four tiles at most
constexpr uint32_t slots = (k_tiles + slot - 1) / slot;
constexpr uint32_t SCALER = (2 * rows + 2) * d;  // the first of them in CB_TABLES
constexpr uint32_t half = slots / 2;
// Products of a turn are summed in DEST, then put down. One group has two turns, for what is done meanwhile needs DEST;
// of more groups each takes its turn with every slot.
constexpr uint32_t turn = group == rows ? slots - half : 1;

// The squares of x over some K tiles, scaled so that all of them, with those of the other core, sum to mean x^2 +
// epsilon.
ALWI void square_x(uint32_t first_k, uint32_t end_k) {
    DeviceZoneScopedN("squares of x");
    reconfig_data_format(CB_X, CB_X);
    pack_reconfig_data_format(CB_X_SQUARES);
    mul_init(CB_X, CB_X);
    binop_with_scalar_tile_init();
    cb_wait_front(CB_X, end_k * rows);
    for (uint32_t row = 0; row < rows; ++row) {
        push_tile(CB_X_SQUARES, [&] {
            for (uint32_t k = first_k; k < end_k; ++k) mul_tiles(CB_X, CB_X, k * rows + row, k * rows + row, 0);
            mul_unary_tile(0, x_scale);
            add_unary_tile(0, x_eps);
        });
    }
}

ALWI void fold_tables(Kind kind, uint32_t part) {
    cb_wait_front(CB_TABLES, SCALER + SCALERS);
    const Table gamma{CB_TABLES, (2 * rows + (kind == Kind::Key)) * d};
    for (uint32_t row = 0; row < rows; ++row) {
        const Table cos{CB_TABLES, row * d}, sin{CB_TABLES, (rows + row) * d};
        fold_gamma<n, d>(cos, sin, gamma, part, CB_COS_GAMMA, CB_SIN_GAMMA);
    }
}

ALWI void start_products() {
    reconfig_data_format(CB_W, CB_X);
    init_products(CB_X, CB_W, false, n, group, 1);
}

// What earlier turns have put down, to DEST.
ALWI void reload(uint32_t first) {
    start_copying(CB_PARTIAL);
    for (uint32_t i = 0; i < group * n; ++i) copy_one(CB_PARTIAL, first + i, i);
    start_products();
}

// Slots from `first` to `end`: added to CB_PARTIAL, with the last slot to CB_Z.
ALWI void multiply_turn(uint32_t first, uint32_t end) {
    DeviceZoneScopedN("product");
    const bool last = end == slots;
    pack_reconfig_data_format(last ? CB_Z : CB_PARTIAL);
    pack_reconfig_l1_acc(!last && first > 0);
    if (last && first > 0) cb_wait_front(CB_PARTIAL, rows * n);
    for (uint32_t row = 0; row < rows; row += group) {
        tile_regs_acquire();
        if (last && first > 0) reload(row * n);
        for (uint32_t s = first; s < end; ++s) {
            const uint32_t k_end = s + 1 == slots ? k_tiles : (s + 1) * slot;
            if (row == 0) {
                cb_wait_front(CB_X, k_end * rows);
                cb_wait_front(CB_W, slot * n);
            }
            for (uint32_t k = s * slot; k < k_end; ++k) {
                matmul_block(CB_X, CB_W, k * rows + row, (k - s * slot) * n, 0, false, n, group, 1);
            }
            if (row + group == rows) pop_front(CB_W, slot * n);
        }
        tile_regs_commit();
        tile_regs_wait();
        const uint32_t out = last ? CB_Z : CB_PARTIAL;
        pack_at(out, row * n, group * n);
        tile_regs_release();
    }
    if (last && first > 0) pop_front(CB_PARTIAL, rows * n);
    pack_reconfig_l1_acc(0);
}

// z of a head, and what needs no weights while they stream.
ALWI void multiply(Kind kind, uint32_t part, uint32_t first_k, uint32_t end_k) {
    reserve_back(CB_PARTIAL, rows * n);
    reserve_back(CB_Z, rows * n);
    for (uint32_t first = 0; first < slots;) {
        if (first == half) {
            square_x(first_k, end_k);
            if (kind != Kind::Value) fold_tables(kind, part);
        }
        if (first == 0 || first == half) start_products();
        const uint32_t end = turn == 1 ? first + 1 : first < half ? half : slots;
        multiply_turn(first, end);
        first = end;
        if (first < slots && first + turn >= slots) push_back(CB_PARTIAL, rows * n);
    }
    push_back(CB_Z, rows * n);
}

// The core's share of what the factors of a group are made of, or where it has the whole head, already the factors.
ALWI void sum(bool normed) {
    DeviceZoneScopedN("sums");
    if (normed) sum_squares(CB_Z, group, n, CB_SQUARES);
    constexpr uint32_t out = parts == 1 ? CB_FACTOR : CB_SUMS;
    cb_wait_front(CB_TABLES, SCALER + SCALERS);
    cb_wait_front(CB_X_SQUARES, group);
    // A product with a tile of one value: sums in all columns.
    reconfig_data_format(CB_TABLES, CB_X_SQUARES);
    pack_reconfig_data_format(out);
    init_products(CB_X_SQUARES, CB_TABLES, false, 1, group, 1);
    reserve_back(out, group);
    if constexpr (parts > 1) reserve_back(CB_SEND, group);
    tile_regs_acquire();
    matmul_block(CB_X_SQUARES, CB_TABLES, 0, SCALER + (normed ? EPSILON : ONE), 0, false, 1, group, 1);
    if (normed) {
        cb_wait_front(CB_SQUARES, group);
        matmul_block(CB_SQUARES, CB_TABLES, 0, SCALER + MEAN_OF_HEAD, 0, false, 1, group, 1);
    }
    if constexpr (parts == 1) {
        rsqrt_tile_init();
        for (uint32_t row = 0; row < group; ++row) invert_root(row);
    }
    tile_regs_commit();
    tile_regs_wait();
    if constexpr (parts > 1) {
        pack_next(CB_SEND, group);
        push_back(CB_SEND, group);
    }
    pack_next(out, group);
    push_back(out, group);
    tile_regs_release();
    if (normed) pop_front(CB_SQUARES, group);
    pop_front(CB_X_SQUARES, group);
}

// The factors of a group, of the sums of both cores of the head.
ALWI void add_sums() {
    DeviceZoneScopedN("factors");
    reconfig_data_format(CB_SUMS, CB_RECEIVED);
    pack_reconfig_data_format(CB_FACTOR);
    add_init(CB_SUMS, CB_RECEIVED);
    rsqrt_tile_init();
    cb_wait_front(CB_SUMS, group);
    cb_wait_front(CB_RECEIVED, group);
    push_tiles(CB_FACTOR, group, [](uint32_t row, uint32_t dst) {
        add_tiles(CB_SUMS, CB_RECEIVED, row, row, dst);
        invert_root(dst);
    });
    pop_front(CB_SUMS, group);
    pop_front(CB_RECEIVED, group);
}

// A group of `in` times the factors, to q or a cache. On the SFPU, for whose products there is no fidelity.
ALWI void scale(uint32_t in, uint32_t out) {
    DeviceZoneScopedN("scale");
    constexpr uint32_t together = n % 3 == 0 ? 3 : n % 2 == 0 ? 2 : 1;  // beside the factor in DEST
    pack_reconfig_data_format(out);
    mul_binary_tile_init();
    for (uint32_t first = 0; first < group * n; first += together) {
        reserve_back(out, together);
        tile_regs_acquire();
        start_copying(CB_FACTOR);
        copy_one(CB_FACTOR, first / n, together);
        start_copying(in);
        for (uint32_t i = 0; i < together; ++i) {
            copy_one(in, first + i, i);
            mul_binary_tile(i, together, i);
        }
        tile_regs_commit();
        tile_regs_wait();
        pack_next(out, together);
        tile_regs_release();
        push_back(out, together);
    }
}

// A group of z to q or a cache.
ALWI void finish(Kind kind) {
    constexpr uint32_t tiles = group * n;
    const bool normed = kind != Kind::Value;
    const uint32_t out = kind == Kind::Query ? CB_Q : CB_CACHE;
    cb_wait_front(CB_Z, tiles);
    sum(normed);
    if (normed) {
        cb_wait_front(CB_COS_GAMMA, tiles);
        cb_wait_front(CB_SIN_GAMMA, tiles);
        rotate<group, n>(CB_Z, CB_COS_GAMMA, CB_SIN_GAMMA, CB_ROTATED);
        pop_front(CB_COS_GAMMA, tiles);
        pop_front(CB_SIN_GAMMA, tiles);
    }
    if constexpr (parts > 1) add_sums();
    cb_wait_front(CB_FACTOR, group);
    if (normed) cb_wait_front(CB_ROTATED, tiles);
    scale(normed ? CB_ROTATED : CB_Z, out);
    if (normed) pop_front(CB_ROTATED, tiles);
    pop_front(CB_FACTOR, group);
    pop_front(CB_Z, tiles);
}

// All heads of the core, if it has any. arg: the first of the runtime args.
ALWI void project(uint32_t arg) {
    const uint32_t first = get_arg_val<uint32_t>(arg), count = get_arg_val<uint32_t>(arg + 1);
    const uint32_t part = get_arg_val<uint32_t>(arg + 2);
    const uint32_t first_k = get_arg_val<uint32_t>(arg + 3), end_k = get_arg_val<uint32_t>(arg + 4);
    for (uint32_t column = first; column < first + count; ++column) {
        const Head head = head_at<heads, kv_heads>(column);
        multiply(head.kind, part, first_k, end_k);
        for (uint32_t row = 0; row < rows; row += group) finish(head.kind);
    }
}

}  // namespace qkv
