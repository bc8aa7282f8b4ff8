// Takes x and the tables as they are multicast (on the leader of NoC 1: sends them), exchanges sums of squares with the
// other core of the head; writes keys and values to the own rows of the caches, and gives queries away.
//
// Compile-time args   query heads, key heads, d, tile rows, cores of a head, K tiles of x and of a chunk of it,
//                     accessors of x, cos, q gamma, caches
// Common args         addresses of x, cos, sin, scalers; tile rows of a cache; from an index on that is given, the
//                     layer's own: addresses of q gamma, k gamma, K cache, V cache
// Runtime args        first head, heads, part of the head, x, y of its other core, leader?, then its rectangle
#pragma once

#include "../shared/heads.h"
#include "../shared/once.h"
#include "cbs.h"
#include "lead.h"

namespace qkv {

constexpr uint32_t heads = get_compile_time_arg_val(QKV_ARGS), kv_heads = get_compile_time_arg_val(QKV_ARGS + 1);
constexpr uint32_t d = get_compile_time_arg_val(QKV_ARGS + 2), rows = get_compile_time_arg_val(QKV_ARGS + 3);
constexpr uint32_t parts = get_compile_time_arg_val(QKV_ARGS + 4);
constexpr uint32_t k_tiles = get_compile_time_arg_val(QKV_ARGS + 5);
constexpr uint32_t chunk = get_compile_time_arg_val(QKV_ARGS + 6);
constexpr uint32_t n = d / parts, tables = (2 * rows + 2) * d + SCALERS;
constexpr uint32_t group = n == 2 && rows % 2 == 0 ? 2 : 1;  // tile rows, as in compute.h
using All = Chunks<k_tiles, chunk>;

constexpr auto x_args = TensorAccessorArgs<QKV_ARGS + 7>();
constexpr auto table_args = TensorAccessorArgs<x_args.next_compile_time_args_offset()>();
constexpr auto gamma_args = TensorAccessorArgs<table_args.next_compile_time_args_offset()>();
constexpr auto cache_args = TensorAccessorArgs<gamma_args.next_compile_time_args_offset()>();
constexpr uint32_t COMMON_ARGS = 5, RUNTIME_ARGS = 11;  // how many
enum { SCALER_ARG = 3, CACHE_ROWS_ARG };
enum { Q_GAMMA, K_GAMMA, K_CACHE, V_CACHE, OWN_ARGS };  // of a layer

// Starts reading the first n pages of the tensor whose address is a common arg.
template <typename Args>
SMALL uint32_t start_reading_table(const Args& args, uint32_t arg, uint32_t n, uint32_t to) {
    const auto tensor = TensorAccessor(args, get_common_arg_val<uint32_t>(arg), get_tile_size(CB_TABLES));
    for (uint32_t page = 0; page < n; ++page, to += get_tile_size(CB_TABLES)) noc_async_read_page(page, tensor, to);
    return to;
}

// Starts reading cos, sin, the gammas and the scalers. own: index of the layer's common args.
inline void read_tables(uint32_t own) {
    uint32_t to = get_write_ptr(CB_TABLES);
    to = start_reading_table(table_args, 1, rows * d, to);
    to = start_reading_table(table_args, 2, rows * d, to);
    to = start_reading_table(gamma_args, own + Q_GAMMA, d, to);
    to = start_reading_table(gamma_args, own + K_GAMMA, d, to);
    start_reading_table(gamma_args, SCALER_ARG, SCALERS, to);
}

// The leader's part: x of this NoC, and the tables.
template <typename Await>
SMALL inline void lead_with_tables(uint32_t arg, uint32_t own, bool sent, Await await_x) {
    const auto x = TensorAccessor(x_args, get_common_arg_val<uint32_t>(0), get_tile_size(CB_X));
    const Everyone everyone = everyone_from_args(arg);
    lead<All, k_tiles, rows>(x, everyone, [&] { read_tables(own); }, sent, await_x);
    multicast(get_write_ptr(CB_TABLES), tables * get_tile_size(CB_TABLES), everyone);
    send_flag(get_semaphore(CHUNKS_HERE + 1), All::tables, everyone);
    noc_async_write_barrier();
}

// x as it comes.
inline void take_x() {
    DeviceZoneScopedN("x");
    cb_reserve_back(CB_X, k_tiles * rows);
    for (uint32_t k = 0; k < k_tiles;) {
        const uint32_t there = All::wait(k);
        cb_push_back(CB_X, (there - k) * rows);
        k = there;
    }
}

inline void take_tables() {
    DeviceZoneScopedN("tables");
    cb_reserve_back(CB_TABLES, tables);
    noc_semaphore_wait_min(words_at(get_semaphore(CHUNKS_HERE + 1)), All::tables);
    cb_push_back(CB_TABLES, tables);
}

// The sums of a group of tile rows, with the other core.
inline void exchange(uint32_t x, uint32_t y, uint32_t row) {
    DeviceZoneScopedN("exchange");
    const uint32_t bytes = group * get_tile_size(CB_SEND);
    cb_reserve_back(CB_RECEIVED, group);
    cb_wait_front(CB_SEND, group);
    send(get_read_ptr(CB_SEND), get_noc_addr(x, y, get_write_ptr(CB_RECEIVED)), bytes);
    noc_async_writes_flushed();
    increment(get_noc_addr(x, y, get_semaphore(SUMS_HERE)), 1);
    cb_pop_front(CB_SEND, group);
    noc_semaphore_wait_min(words_at(get_semaphore(SUMS_HERE)), row / group + 1);
    cb_push_back(CB_RECEIVED, group);
}

// Starts writing a group of tile rows of the core's part of a head to consecutive pages of a tensor.
template <typename Accessor>
inline void start_writing_rows(const Accessor& tensor, uint32_t cb, uint32_t page, uint32_t part) {
    cb_wait_front(cb, group * n);
    uint32_t from = get_read_ptr(cb);
    for (uint32_t row = 0; row < group; ++row) {
        for (uint32_t i = 0; i < n; ++i, from += get_tile_size(cb)) {
            noc_async_write_page(page + row * d + column_of<n, d>(part, i), tensor, from);
        }
    }
    noc_async_writes_flushed();
    cb_pop_front(cb, group * n);
}

// What compute makes of the core's heads. arg: the first of the runtime args. own: index of the layer's common args.
// sent, await_x: as in lead.h. give_queries(head, part, row): what happens to a group of tile rows of queries, the
// front tiles of CB_Q.
template <typename Await, typename GiveQueries>
inline void write_heads(uint32_t arg, uint32_t own, bool sent, Await await_x, GiveQueries give_queries) {
    const uint32_t first = get_arg_val<uint32_t>(arg), count = get_arg_val<uint32_t>(arg + 1);
    const uint32_t part = get_arg_val<uint32_t>(arg + 2), x = get_arg_val<uint32_t>(arg + 3),
                   y = get_arg_val<uint32_t>(arg + 4);
    if (get_arg_val<uint32_t>(arg + 5)) lead_with_tables(arg + 6, own, sent, await_x);
    if (count == 0) return;
    take_x();
    take_tables();
    for (uint32_t column = first; column < first + count; ++column) {
        const Head head = head_at<heads, kv_heads>(column);
        for (uint32_t row = 0; row < rows; row += group) {
            if constexpr (parts > 1) exchange(x, y, row);
            DeviceZoneScopedN("write");
            if (head.kind == Kind::Query) {
                give_queries(head.index, part, row);
            } else {
                const uint32_t address =
                    get_common_arg_val<uint32_t>(own + (head.kind == Kind::Key ? K_CACHE : V_CACHE));
                const uint32_t cache_rows = get_common_arg_val<uint32_t>(CACHE_ROWS_ARG);
                const auto cache = TensorAccessor(cache_args, address, get_tile_size(CB_CACHE));
                const uint32_t first_row = head.index * cache_rows + cache_rows - rows + row;
                start_writing_rows(cache, CB_CACHE, first_row * d, part);
            }
        }
    }
}

}  // namespace qkv
