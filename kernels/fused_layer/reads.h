// RISCV_1 of workers and feeders: what they read before the rows of K and V, and after them. A read waits until all
// before it have been asked for from the bank, and for no activations but the own rows of the caches.
//
// Compile-time args   those of qkv_heads/reader.h; R, D, B, W, own tile rows, units, units a head, feeders a bank,
//                     banks, pages of a feeder's slot, slots, cores that x is sent to; columns of a unit, rows of a
//                     block of wo; hidden, rows of a block of w1 and w3; rows of a block of w2; tiles of a slot, slots,
//                     slots of wo; accessors of K cache, V cache, valid rows
// Common args         addresses of x, wqkv, K cache, V cache, valid rows, the other weights; tile rows of a cache
// Runtime args        those of qkv_heads/reader.h (9); places of the feeders of that bank, x << 16 | y; whether x is
//                     sent here; whether the core has a share of what follows attention: bank, offset of the share in
//                     it, units, width of wo, own columns, width of w2, what ROWS_READ counts to
#pragma once

#include "plan.h"
#include "../qkv_heads/reader.h"
#include "../attention/load.h"

using All = qkv::Chunks<get_compile_time_arg_val(QKV_ARGS), get_compile_time_arg_val(QKV_ARGS + 2)>;
constexpr uint32_t A = qkv::x_args.next_compile_time_args_offset(), F = A + 12;  // of attention, of what follows it
constexpr uint32_t R = get_compile_time_arg_val(A), D = get_compile_time_arg_val(A + 1);
constexpr uint32_t B = get_compile_time_arg_val(A + 2), W = get_compile_time_arg_val(A + 3);
constexpr uint32_t own_rows = get_compile_time_arg_val(A + 4), units = get_compile_time_arg_val(A + 5);
constexpr uint32_t units_a_head = get_compile_time_arg_val(A + 6), feeders = get_compile_time_arg_val(A + 7);
constexpr uint32_t banks = get_compile_time_arg_val(A + 8);
constexpr auto k_args = TensorAccessorArgs<F + 8>();
constexpr auto v_args = TensorAccessorArgs<k_args.next_compile_time_args_offset()>();
constexpr auto valid_args = TensorAccessorArgs<v_args.next_compile_time_args_offset()>();
constexpr uint32_t FEEDER_ARG = 9, X_ARG = FEEDER_ARG + feeders, REST_ARG = X_ARG + 1, ROWS_ARG = REST_ARG + 8;

// Tells those who read from a bank next, whose places are `n` runtime args from `places` on, that it is theirs.
inline void free_bank(uint32_t places, uint32_t n, uint32_t semaphore) {
    for (uint32_t i = 0; i < n; ++i) {
        increment(on_core(get_arg_val<uint32_t>(places + i), get_semaphore(semaphore)), 1);
    }
}

// The core's columns of wqkv. Attention has the memory of x, so it comes after x.
inline void read_columns() {
    qkv::stream_columns(0, [] { free_bank(FEEDER_ARG, get_arg_val<uint32_t>(2) ? feeders : 0, BANK_FREE); });
    if (get_arg_val<uint32_t>(X_ARG)) All::wait_all();
}

// S.
inline attention::ValidRows read_valid_rows() {
    const auto words = TensorAccessor(valid_args, get_common_arg_val<uint32_t>(4), attention::WORDS_BYTES);
    return {attention::read_valid(words), get_common_arg_val<uint32_t>(6), own_rows};
}

// The share of wo, then, as soon as there is room where attention was, those of w1 and w3 side by side and of w2.
inline void read_weights() {
    constexpr uint32_t columns = get_compile_time_arg_val(F), wo_block = get_compile_time_arg_val(F + 1);
    constexpr uint32_t hidden = get_compile_time_arg_val(F + 2), block = get_compile_time_arg_val(F + 3);
    constexpr uint32_t w2_block = get_compile_time_arg_val(F + 4);
    constexpr uint32_t slot = get_compile_time_arg_val(F + 5), slots = get_compile_time_arg_val(F + 6);
    constexpr uint32_t wo_slots = get_compile_time_arg_val(F + 7);
    constexpr uint32_t arg = REST_ARG + 1;
    if (get_arg_val<uint32_t>(REST_ARG) == 0) return;
    const uint32_t bank = get_arg_val<uint32_t>(arg);
    const uint32_t address = get_common_arg_val<uint32_t>(5) + get_arg_val<uint32_t>(arg + 1);
    const uint32_t units = get_arg_val<uint32_t>(arg + 2), wo_width = get_arg_val<uint32_t>(arg + 3);
    const uint32_t own = get_arg_val<uint32_t>(arg + 4), w2_width = get_arg_val<uint32_t>(arg + 5);

    noc_semaphore_wait_min(words_at(get_semaphore(ROWS_READ)), get_arg_val<uint32_t>(arg + 6));
    Stream wo(bank, address, CB_WO_WEIGHTS, columns * wo_block, wo_slots);
    for (uint32_t unit = 0; unit < units; ++unit) wo.read_blocks(wo_width, columns, wo_block);
    wo.finish();
    cb_wait_front(CB_TURN, 1);
    cb_pop_front(CB_TURN, 1);
    const uint32_t wo_bytes = units * columns * wo_width * get_tile_size(CB_WO_WEIGHTS);
    Stream stream(bank, address + wo_bytes, CB_WEIGHTS, slot, slots);
    for (uint32_t column = 0; column < own; ++column) stream.read_blocks(hidden, 2, block);
    for (uint32_t unit = 0; unit < units; ++unit) stream.read_blocks(w2_width, columns, w2_block);
    stream.finish();
}
