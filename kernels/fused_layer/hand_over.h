// What blocks of the layer bring each other from core to core, where three programs would go through DRAM.
#pragma once

#include "../qkv_heads/writer.h"
#include "../attention/share.h"
#include "../shared/split_linear.h"
#include "plan.h"

// A group of tile rows of queries, the front tiles of qkv's CB_Q, to the workers of their units. group_heads: query
// heads of a KV head. workers: index of the runtime arg with the first worker of the KV head's first unit, x << 16 | y;
// those of its other units follow.
template <uint32_t group_heads, uint32_t R, uint32_t W>
inline void send_queries(uint32_t head, uint32_t part, uint32_t first_row, uint32_t workers) {
    using namespace qkv;
    const uint32_t tile = get_tile_size(CB_Q), to = get_write_ptr(attention::CB_Q);
    const uint32_t arrived = get_semaphore(attention::QUERIES_ARRIVED);
    const uint32_t query_row = head % group_heads * rows + first_row;  // among those of the KV head
    const auto address_at = [&](uint32_t row, uint32_t i, uint32_t address) {
        return on_core(get_arg_val<uint32_t>(workers + (query_row + row) / R * W + i), address);
    };
    cb_wait_front(CB_Q, group * n);
    for (uint32_t row = 0; row < group; ++row) {
        const uint32_t from = get_read_ptr(CB_Q) + row * n * tile, at = to + (query_row + row) % R * d * tile;
        for (uint32_t i = 0; i < W; ++i) {
            for (uint32_t j = 0; j < n; ++j) {
                send(from + j * tile, address_at(row, i, at + column_of<n, d>(part, j) * tile), tile);
            }
        }
    }
    noc_async_writes_flushed();
    for (uint32_t row = 0; row < group; ++row) {
        for (uint32_t i = 0; i < W; ++i) increment(address_at(row, i, arrived), n);
    }
    cb_pop_front(CB_Q, group * n);
}

// The output that this core owns, `rows` tile rows of c tiles, to the cores that multiply it by wo. Runtime args from
// `arg` on, for each tile: where it lies in their WO.in, in tiles; how many cores; their coordinates, x | y << 8.
// Returns the index after them.
template <uint32_t c>
inline uint32_t send_output(uint32_t rows, uint32_t arg) {
    DeviceZoneScopedN("send o");
    const uint32_t tile = get_tile_size(attention::CB_OUT), in = get_write_ptr(WO.in);
    for (uint32_t row = 0; row < rows; ++row) {
        cb_wait_front(attention::CB_OUT, c);
        const uint32_t first = arg;
        for (uint32_t j = 0; j < c; ++j) {
            const uint32_t from = get_read_ptr(attention::CB_OUT) + j * tile,
                           to = in + get_arg_val<uint32_t>(arg) * tile;
            const uint32_t cores = get_arg_val<uint32_t>(arg + 1);
            arg += 2;
            for (uint32_t i = 0; i < cores; ++i) send(from, address_at(get_arg_val<uint32_t>(arg + i), to), tile);
            arg += cores;
        }
        noc_async_writes_flushed();
        for (uint32_t at = first; at < arg; at += 2 + get_arg_val<uint32_t>(at + 1)) {
            for (uint32_t i = 0; i < get_arg_val<uint32_t>(at + 1); ++i) {
                increment(address_at(get_arg_val<uint32_t>(at + 2 + i), get_semaphore(O_ARRIVED)), 1);
            }
        }
        cb_pop_front(attention::CB_OUT, c);
    }
    return arg;
}

// On a core that multiplies by wo: waits for its group's columns of o.
template <uint32_t rows>
inline void receive_output(uint32_t width) {
    DeviceZoneScopedN("receive o");
    cb_reserve_back(WO.in, rows * width);
    noc_semaphore_wait(words_at(get_semaphore(O_ARRIVED)), rows * width);
    cb_push_back(WO.in, rows * width);
}
