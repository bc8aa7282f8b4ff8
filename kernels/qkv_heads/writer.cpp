// Takes x and the tables as they are multicast (on the leader of NoC 1: sends them), exchanges sums of squares with the
// other core of the head; writes queries to q, keys and values to the own rows of the caches.
//
// Compile-time args   query heads, key heads, d, tile rows, cores of a head, K tiles of x and of a chunk of it, the
// scalers
//                     as two bf16, accessors of x, cos, q gamma, q, caches
// Common args         addresses of x, cos, sin, q gamma, k gamma, scalers, q, K cache, V cache; tile rows of a cache
// Runtime args        first head, heads, part of the head, x, y of its other core, leader?, then the leader's rectangle
#include "../shared/heads.h"
#include "cbs.h"
#include "lead.h"

constexpr uint32_t heads = get_compile_time_arg_val(0), kv_heads = get_compile_time_arg_val(1);
constexpr uint32_t d = get_compile_time_arg_val(2), rows = get_compile_time_arg_val(3);
constexpr uint32_t parts = get_compile_time_arg_val(4);
constexpr uint32_t k_tiles = get_compile_time_arg_val(5), chunk = get_compile_time_arg_val(6);
constexpr uint32_t n = d / parts, tables = (2 * rows + 2) * d + SCALERS;
constexpr uint32_t group = n == 2 && rows % 2 == 0 ? 2 : 1;  // tile rows, as in compute.cpp

constexpr auto x_args = TensorAccessorArgs<7>();
constexpr auto table_args = TensorAccessorArgs<x_args.next_compile_time_args_offset()>();
constexpr auto gamma_args = TensorAccessorArgs<table_args.next_compile_time_args_offset()>();
constexpr auto q_args = TensorAccessorArgs<gamma_args.next_compile_time_args_offset()>();
constexpr auto cache_args = TensorAccessorArgs<q_args.next_compile_time_args_offset()>();

// Starts reading cos, sin, the gammas and the scalers.
inline void read_tables() {
    uint32_t to = get_write_ptr(CB_TABLES);
    const auto read = [&](const auto& args, uint32_t arg, uint32_t n) {
        const auto tensor = TensorAccessor(args, get_common_arg_val<uint32_t>(arg), get_tile_size(CB_TABLES));
        for (uint32_t page = 0; page < n; ++page, to += get_tile_size(CB_TABLES)) noc_async_read_page(page, tensor, to);
    };
    read(table_args, 1, rows * d);
    read(table_args, 2, rows * d);
    read(gamma_args, 3, d);
    read(gamma_args, 4, d);
    read(gamma_args, 5, SCALERS);
}

// x as it comes.
inline void take_x() {
    DeviceZoneScopedN("x");
    cb_reserve_back(CB_X, k_tiles * rows);
    for (uint32_t k = 0; k < k_tiles;) {
        const uint32_t there = Chunks<k_tiles, chunk>::wait(k);
        cb_push_back(CB_X, (there - k) * rows);
        k = there;
    }
}

inline void take_tables() {
    DeviceZoneScopedN("tables");
    cb_reserve_back(CB_TABLES, tables);
    noc_semaphore_wait(words_at(get_semaphore(TABLES_HERE)), 1);
    cb_push_back(CB_TABLES, tables);
}

// The sums of a group of tile rows, with the other core.
inline void exchange(uint32_t x, uint32_t y, uint32_t row) {
    DeviceZoneScopedN("exchange");
    const uint32_t bytes = group * get_tile_size(CB_SEND);
    cb_reserve_back(CB_RECEIVED, group);
    cb_wait_front(CB_SEND, group);
    noc_async_write(get_read_ptr(CB_SEND), get_noc_addr(x, y, get_write_ptr(CB_RECEIVED)), bytes);
    noc_async_writes_flushed();
    noc_semaphore_inc(get_noc_addr(x, y, get_semaphore(SUMS_HERE)), 1);
    cb_pop_front(CB_SEND, group);
    noc_semaphore_wait_min(words_at(get_semaphore(SUMS_HERE)), row / group + 1);
    cb_push_back(CB_RECEIVED, group);
}

// Starts writing a group of tile rows of the core's part of a head.
inline void write(const Head& head, uint32_t part, uint32_t first_row) {
    DeviceZoneScopedN("write");
    const auto write_to = [&](const auto& tensor, uint32_t cb, uint32_t page) {
        cb_wait_front(cb, group * n);
        uint32_t from = get_read_ptr(cb);
        for (uint32_t row = 0; row < group; ++row) {
            for (uint32_t i = 0; i < n; ++i, from += get_tile_size(cb)) {
                noc_async_write_page(page + row * d + column_of<n, d>(part, i), tensor, from);
            }
        }
        noc_async_writes_flushed();
        cb_pop_front(cb, group * n);
    };
    if (head.kind == Kind::Query) {
        const auto q = TensorAccessor(q_args, get_common_arg_val<uint32_t>(6), get_tile_size(CB_Q));
        write_to(q, CB_Q, (head.index * rows + first_row) * d);
    } else {
        const uint32_t address = get_common_arg_val<uint32_t>(head.kind == Kind::Key ? 7 : 8);
        const uint32_t cache_rows = get_common_arg_val<uint32_t>(9);
        const auto cache = TensorAccessor(cache_args, address, get_tile_size(CB_CACHE));
        write_to(cache, CB_CACHE, (head.index * cache_rows + cache_rows - rows + first_row) * d);
    }
}

void kernel_main() {
    const uint32_t first = get_arg_val<uint32_t>(0), count = get_arg_val<uint32_t>(1);
    const uint32_t part = get_arg_val<uint32_t>(2), x0 = get_arg_val<uint32_t>(3), y0 = get_arg_val<uint32_t>(4);
    if (get_arg_val<uint32_t>(5)) {
        const auto x = TensorAccessor(x_args, get_common_arg_val<uint32_t>(0), get_tile_size(CB_X));
        const Everyone everyone = everyone_from_args(6);
        lead<Chunks<k_tiles, chunk>, k_tiles, rows>(x, everyone, read_tables);
        const uint32_t from = get_write_ptr(CB_TABLES);
        multicast(from, tables * get_tile_size(CB_TABLES), everyone);
        raise_flag(get_semaphore(TABLES_HERE), everyone);
    }
    if (count) {
        take_x();
        take_tables();
    }
    for (uint32_t column = first; column < first + count; ++column) {
        for (uint32_t row = 0; row < rows; row += group) {
            if constexpr (parts > 1) exchange(x0, y0, row);
            write(head_at<heads, kv_heads>(column), part, row);
        }
    }
    noc_async_write_barrier();
    noc_async_atomic_barrier();
}
