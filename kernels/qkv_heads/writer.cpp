// Takes x and the tables as they are multicast (on the leader of NoC 1: sends them), sends partial rows to their owners
// and takes those of the own rows; writes queries to q, keys and values to the own rows of the caches.
//
// Compile-time args   query heads, key heads, d, tile rows, slices of K, K tiles of a block, K tiles of x and of a
// chunk
//                     of it, the scaler epsilon * head_dim / hidden as two bf16, accessors of x, cos, q gamma, q,
//                     caches
// Common args         addresses of x, cos, sin, q gamma, k gamma, q, K cache, V cache; tile rows of a cache
// Runtime args        first head, heads, slice, first block, blocks, leader?, the leader's rectangle (4) and others in
//                     it, then x, y of the core of each slice of the same heads
#include "lead.h"
#include "share.h"

constexpr uint32_t heads = get_compile_time_arg_val(0), kv_heads = get_compile_time_arg_val(1);
constexpr uint32_t d = get_compile_time_arg_val(2), rows = get_compile_time_arg_val(3);
constexpr uint32_t slices = get_compile_time_arg_val(4), block = get_compile_time_arg_val(5);
constexpr uint32_t k_tiles = get_compile_time_arg_val(6), chunk = get_compile_time_arg_val(7);
constexpr uint32_t x_squares_scaler = get_compile_time_arg_val(8);
constexpr uint32_t tables = (2 * rows + 2) * d, part = d + 1;
constexpr uint32_t PEERS = 11;  // first runtime arg of the slices' cores

constexpr auto x_args = TensorAccessorArgs<9>();
constexpr auto table_args = TensorAccessorArgs<x_args.next_compile_time_args_offset()>();
constexpr auto gamma_args = TensorAccessorArgs<table_args.next_compile_time_args_offset()>();
constexpr auto q_args = TensorAccessorArgs<gamma_args.next_compile_time_args_offset()>();
constexpr auto cache_args = TensorAccessorArgs<q_args.next_compile_time_args_offset()>();

inline uint64_t at_peer(uint32_t slice, uint32_t address) {
    return get_noc_addr(get_arg_val<uint32_t>(PEERS + 2 * slice), get_arg_val<uint32_t>(PEERS + 2 * slice + 1),
                        address);
}

// Starts reading cos, sin and the gammas.
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
}

// The K tiles of x that this core multiplies, as they come. Those before lie in the same buffer and are not looked at.
inline void take_x(uint32_t first_k, uint32_t end_k) {
    cb_reserve_back(CB_X, k_tiles * rows);
    if (first_k) cb_push_back(CB_X, first_k * rows);
    for (uint32_t k = first_k; k < end_k;) {
        const uint32_t there = Chunks<k_tiles, chunk>::wait(k), next = there < end_k ? there : end_k;
        cb_push_back(CB_X, (next - k) * rows);
        k = next;
    }
}

inline void take_tables() {
    cb_reserve_back(CB_TABLES, tables);
    noc_semaphore_wait(words_at(get_semaphore(TABLES_HERE)), 1);
    cb_push_back(CB_TABLES, tables);
}

// The parts of the rows that other cores own, to them.
inline void send_parts(const Share<rows, slices>& share) {
    const uint32_t bytes = part * get_tile_size(CB_SEND), to = get_write_ptr(CB_RECEIVED);
    cb_wait_front(CB_SEND, (rows - share.own_rows()) * part);
    uint32_t from = get_read_ptr(CB_SEND);
    for (uint32_t row = 0; row < rows; ++row) {
        if (share.owns(row)) continue;
        const uint32_t slot = received_slot<slices>(row, share.slice);
        noc_async_write(from, at_peer(row % slices, to + slot * bytes), bytes);
        from += bytes;
    }
    noc_async_write_barrier();
    for (uint32_t row = 0; row < rows; ++row) {
        if (!share.owns(row)) noc_semaphore_inc(at_peer(row % slices, get_semaphore(PARTS_HERE)), 1);
    }
    cb_pop_front(CB_SEND, (rows - share.own_rows()) * part);
}

inline void take_parts(uint32_t n) {
    cb_reserve_back(CB_RECEIVED, n * part);
    noc_semaphore_wait(words_at(get_semaphore(PARTS_HERE)), n);
    cb_push_back(CB_RECEIVED, n * part);
}

// The own rows of a head.
inline void write_head(const Head& head, const Share<rows, slices>& share) {
    const auto q = TensorAccessor(q_args, get_common_arg_val<uint32_t>(5), get_tile_size(CB_Q));
    const uint32_t cache_address = get_common_arg_val<uint32_t>(head.kind == Kind::Key ? 6 : 7);
    const auto cache = TensorAccessor(cache_args, cache_address, get_tile_size(CB_CACHE));
    const uint32_t cache_rows = get_common_arg_val<uint32_t>(8);
    const uint32_t cb = head.kind == Kind::Query ? CB_Q : CB_CACHE;
    for (uint32_t row = share.slice; row < rows; row += slices) {
        if (head.kind == Kind::Query) {
            start_writing(q, (head.index * rows + row) * d, d, cb);
        } else {
            start_writing(cache, (head.index * cache_rows + cache_rows - rows + row) * d, d, cb);
        }
        noc_async_writes_flushed();
        cb_pop_front(cb, d);
    }
}

void kernel_main() {
    const uint32_t first = get_arg_val<uint32_t>(0), count = get_arg_val<uint32_t>(1);
    const Share<rows, slices> share{get_arg_val<uint32_t>(2)};
    const uint32_t first_k = get_arg_val<uint32_t>(3) * block, end_k = first_k + get_arg_val<uint32_t>(4) * block;
    if (get_arg_val<uint32_t>(5)) {
        const auto x = TensorAccessor(x_args, get_common_arg_val<uint32_t>(0), get_tile_size(CB_X));
        const Everyone everyone = everyone_from_args(6);
        lead<Chunks<k_tiles, chunk>, k_tiles, rows>(x, everyone, read_tables);
        const uint32_t from = get_write_ptr(CB_TABLES);
        multicast_with_flag(from, tables * get_tile_size(CB_TABLES), get_semaphore(TABLES_HERE), 1, everyone);
    }
    if (count) {
        push_ones(CB_SCALERS);
        push_scaler(CB_SCALERS, x_squares_scaler);
        take_x(first_k, end_k);
        take_tables();
    }
    for (uint32_t column = first; column < first + count; ++column) {
        if (share.own_rows() < rows) send_parts(share);
        if constexpr (slices > 1) take_parts(share.own_rows() * (slices - 1));
        write_head(head_at<heads, kv_heads>(column), share);
    }
    noc_async_write_barrier();
    noc_async_atomic_barrier();
}
