// RISCV_1 of workers and feeders: what they read before the rows of K and V, and after them. A read waits until all
// before it have been asked for from the bank, and for no activations but the own rows of the caches.
//
// Compile-time args   those of qkv_heads/reader.h; R, D, B, W, own tile rows, units, units a head, feeders a bank,
//                     banks, pages of a feeder's slot, slots, cores that x is sent to; columns of a unit, rows of a
//                     block of wo; hidden, rows of a block of w1 and w3; rows of a block of w2; tiles of a slot, slots,
//                     slots of wo; those of chain.h; accessors of K cache, V cache, valid rows
// Common args         addresses of x, valid rows; tile rows of a cache; of each layer addresses of wqkv, K cache,
//                     V cache, the other weights
// Runtime args        those of qkv_heads/reader.h (9); places of the feeders of that bank, x << 16 | y; whether x is
//                     sent here; whether the core has a share of what follows attention: bank, offset of the share in
//                     it, units, width of wo, own columns, width of w2, what ROWS_READ counts to; between layers, from
//                     an index on that is given: cores that have a share of the other weights in the bank of wqkv;
//                     how many read wqkv from the bank of the other weights, their places
#pragma once

#include "plan.h"
#include "../qkv_heads/reader.h"
#include "../attention/load.h"
#include "chain.h"

using All = qkv::Chunks<get_compile_time_arg_val(QKV_ARGS), get_compile_time_arg_val(QKV_ARGS + 2)>;
constexpr uint32_t A = qkv::x_args.next_compile_time_args_offset(), F = A + 12;  // of attention, of what follows it
constexpr uint32_t R = get_compile_time_arg_val(A), D = get_compile_time_arg_val(A + 1);
constexpr uint32_t B = get_compile_time_arg_val(A + 2), W = get_compile_time_arg_val(A + 3);
constexpr uint32_t own_rows = get_compile_time_arg_val(A + 4), units = get_compile_time_arg_val(A + 5);
constexpr uint32_t units_a_head = get_compile_time_arg_val(A + 6), feeders = get_compile_time_arg_val(A + 7);
constexpr uint32_t banks = get_compile_time_arg_val(A + 8);
constexpr uint32_t layers = get_compile_time_arg_val(F + 8), done_cores = get_compile_time_arg_val(F + 9);
constexpr uint32_t cbs_low = get_compile_time_arg_val(F + 10), cbs_high = get_compile_time_arg_val(F + 11);
constexpr auto k_args = TensorAccessorArgs<F + 12>();
constexpr auto v_args = TensorAccessorArgs<k_args.next_compile_time_args_offset()>();
constexpr auto valid_args = TensorAccessorArgs<v_args.next_compile_time_args_offset()>();
constexpr uint32_t FEEDER_ARG = 9, X_ARG = FEEDER_ARG + feeders, REST_ARG = X_ARG + 1, ROWS_ARG = REST_ARG + 8;
enum { X, VALID_ROWS, CACHE_ROWS, LAYER };             // common args
enum { WQKV, K_CACHE, V_CACHE, WEIGHTS, LAYER_ARGS };  // of a layer

// Tells those who read from a bank next, whose places are `n` runtime args from `places` on, that it is theirs.
inline void free_bank(uint32_t places, uint32_t n, uint32_t semaphore) {
    for (uint32_t i = 0; i < n; ++i) {
        increment(on_core(get_arg_val<uint32_t>(places + i), get_semaphore(semaphore)), 1);
    }
}

inline uint32_t address_of(uint32_t layer, uint32_t arg) {
    return get_common_arg_val<uint32_t>(LAYER + layer * LAYER_ARGS + arg);
}

// The core's columns of wqkv. Attention has the memory of x, so it comes after x. next: index of the args between
// layers.
inline void read_columns(uint32_t layer, uint32_t next) {
    if (layer > 0) {
        take_turn();
        const uint32_t before = get_arg_val<uint32_t>(next);
        if (before) noc_semaphore_wait_min(words_at(get_semaphore(LAYER_READ)), All::tables + before);
        cb_reserve_back(CB_ASKED, 1);
        cb_push_back(CB_ASKED, 1);
    }
    const auto await_x = [] { await_done(done_cores); };
    const auto asked = [] { free_bank(FEEDER_ARG, get_arg_val<uint32_t>(2) ? feeders : 0, BANK_FREE); };
    qkv::stream_columns(0, LAYER + layer * LAYER_ARGS + WQKV, layer > 0, await_x, asked);
    if (layer > 0) take_turn();
    if (get_arg_val<uint32_t>(X_ARG)) All::wait_all();
}

// S.
inline attention::ValidRows read_valid_rows() {
    const auto words = TensorAccessor(valid_args, get_common_arg_val<uint32_t>(VALID_ROWS), attention::WORDS_BYTES);
    return {attention::read_valid(words), get_common_arg_val<uint32_t>(CACHE_ROWS), own_rows};
}

// The share of wo, then, as soon as there is room where attention was, those of w1 and w3 side by side and of w2.
inline void read_weights(Stream& stream, uint32_t layer, uint32_t next) {
    constexpr uint32_t columns = get_compile_time_arg_val(F), wo_block = get_compile_time_arg_val(F + 1);
    constexpr uint32_t hidden = get_compile_time_arg_val(F + 2), block = get_compile_time_arg_val(F + 3);
    constexpr uint32_t w2_block = get_compile_time_arg_val(F + 4);
    constexpr uint32_t wo_slots = get_compile_time_arg_val(F + 7);
    constexpr uint32_t arg = REST_ARG + 1;
    if (get_arg_val<uint32_t>(REST_ARG) == 0) return;
    const uint32_t bank = get_arg_val<uint32_t>(arg);
    const uint32_t address = address_of(layer, WEIGHTS) + get_arg_val<uint32_t>(arg + 1);
    const uint32_t units = get_arg_val<uint32_t>(arg + 2), wo_width = get_arg_val<uint32_t>(arg + 3);
    const uint32_t own = get_arg_val<uint32_t>(arg + 4), w2_width = get_arg_val<uint32_t>(arg + 5);

    noc_semaphore_wait_min(words_at(get_semaphore(ROWS_READ)), get_arg_val<uint32_t>(arg + 6));
    Stream wo(bank, address, CB_WO_WEIGHTS, columns * wo_block, wo_slots);
    for (uint32_t unit = 0; unit < units; ++unit) wo.read_blocks(wo_width, columns, wo_block);
    wo.finish();
    take_turn();
    const uint32_t wo_bytes = units * columns * wo_width * get_tile_size(CB_WO_WEIGHTS);
    stream.start(bank, address + wo_bytes);
    for (uint32_t column = 0; column < own; ++column) stream.read_blocks(hidden, 2, block);
    for (uint32_t unit = 0; unit < units; ++unit) stream.read_blocks(w2_width, columns, w2_block);
    if (layer + 1 < layers) free_bank(next + 2, get_arg_val<uint32_t>(next + 1), LAYER_READ);
    stream.finish();
}

// All layers. next: index of the args between them. attend(layer): what comes between wqkv and the other weights.
template <typename Attend>
inline void read_layers(uint32_t next, Attend attend) {
    constexpr uint32_t slot = get_compile_time_arg_val(F + 5), slots = get_compile_time_arg_val(F + 6);
    Stream weights(CB_WEIGHTS, slot, slots);
    for (uint32_t layer = 0; layer < layers; ++layer) {
        read_columns(layer, next);
        attend(layer);
        read_weights(weights, layer, next);
        if (layer + 1 < layers) rewind<cbs_low, cbs_high>();
    }
}
