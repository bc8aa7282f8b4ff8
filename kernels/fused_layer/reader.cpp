// RISCV_1, the reads of a layer in order: columns of wqkv; K and V, to send on (feeders) or as they are sent (workers);
// weights of wo, w1 and w3, w2. No read waits for activations but that of the own rows of the caches.
//
// Compile-time args   those of qkv_heads/reader.h; R, D, B, W, own tile rows, units, units a head, feeders a bank,
//                     banks, pages of a feeder's slot, slots, cores of qkv; columns of a unit, rows of a block of wo;
//                     hidden, rows of a block of w1 and w3; rows of a block of w2; tiles of a slot, slots, slots of wo;
//                     accessors of K cache, V cache, valid rows
// Common args         addresses of x, wqkv, K cache, V cache, valid rows, the other weights; tile rows of a cache
// Runtime args        those of qkv_heads/reader.h (9); whether x is sent here; role, bank and feeder of a feeder, unit
// and worker of a worker;
//                     Rest, of a worker: bank, offset of the share in it, units, width of wo, own columns, width of w2
#include "plan.h"
#include "../qkv_heads/reader.h"
#include "../attention/feed.h"

using All = qkv::Chunks<get_compile_time_arg_val(QKV_ARGS), get_compile_time_arg_val(QKV_ARGS + 2)>;
constexpr uint32_t A = qkv::x_args.next_compile_time_args_offset(), F = A + 12;  // attention's and the rest's args
constexpr uint32_t FEEDERS = get_compile_time_arg_val(A + 7);
constexpr auto k_args = TensorAccessorArgs<F + 8>();
constexpr auto v_args = TensorAccessorArgs<k_args.next_compile_time_args_offset()>();
constexpr auto valid_args = TensorAccessorArgs<v_args.next_compile_time_args_offset()>();

// Tells those who read from a bank next, whose places are `n` runtime args from `places` on, that it is theirs.
inline void free_bank(uint32_t places, uint32_t n, uint32_t semaphore) {
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t place = get_arg_val<uint32_t>(places + i);
        noc_semaphore_inc(get_noc_addr(place >> 16, place & 0xFFFF, get_semaphore(semaphore)), 1);
    }
}

inline void read_rows(uint32_t arg) {
    using namespace attention;
    constexpr uint32_t R = get_compile_time_arg_val(A), D = get_compile_time_arg_val(A + 1);
    constexpr uint32_t B = get_compile_time_arg_val(A + 2), W = get_compile_time_arg_val(A + 3);
    constexpr uint32_t own_rows = get_compile_time_arg_val(A + 4), units = get_compile_time_arg_val(A + 5);
    constexpr uint32_t units_a_head = get_compile_time_arg_val(A + 6);
    constexpr uint32_t banks = get_compile_time_arg_val(A + 8), slot_pages = get_compile_time_arg_val(A + 9);
    constexpr uint32_t slots = get_compile_time_arg_val(A + 10);
    constexpr uint32_t qkv_cores = get_compile_time_arg_val(A + 11);
    const uint32_t role = get_arg_val<uint32_t>(arg), first = get_arg_val<uint32_t>(arg + 1);
    const uint32_t second = get_arg_val<uint32_t>(arg + 2);
    if (role == IDLE) return;

    const auto words = TensorAccessor(valid_args, get_common_arg_val<uint32_t>(4), WORDS_BYTES);
    const ValidRows valid{read_valid(words), get_common_arg_val<uint32_t>(6), own_rows};
    if (role == FEEDER) {
        const auto k = TensorAccessor(k_args, get_common_arg_val<uint32_t>(2), get_tile_size(CB_K));
        const auto v = TensorAccessor(v_args, get_common_arg_val<uint32_t>(3), get_tile_size(CB_V));
        const Feeder feeder{first, banks, second, FEEDERS, units, units_a_head, slot_pages, slots};
        noc_semaphore_wait(words_at(get_semaphore(BANK_FREE)), get_arg_val<uint32_t>(arg + 3));
        read_bank<D, W>(feeder, k, v, valid, [&](const Share& share, const Chunk& chunk) {
            const bool own = share.first + chunk.at + chunk.height > valid.before();
            if (own || !chunk.keys) noc_semaphore_wait(words_at(get_semaphore(QKV_DONE)), qkv_cores);
        });
        free_bank(arg + 5, get_arg_val<uint32_t>(arg + 4), ROWS_READ);
        return;
    }
    const Share share = share_of(second, W, valid.count());
    push_info(share, valid);
    cb_reserve_back(CB_Q, R * D);
    noc_semaphore_wait(words_at(get_semaphore(QUERIES_ARRIVED)), R * D);
    cb_push_back(CB_Q, R * D);
    receive_rows<D, B>(first / units_a_head, banks, BANK_ARRIVED, valid, share);
}

// The share of wo, then, as soon as there is room where attention was, those of w1 and w3 side by side and of w2.
inline void stream_weights(uint32_t arg) {
    constexpr uint32_t columns = get_compile_time_arg_val(F), wo_block = get_compile_time_arg_val(F + 1);
    constexpr uint32_t hidden = get_compile_time_arg_val(F + 2), block = get_compile_time_arg_val(F + 3);
    constexpr uint32_t w2_block = get_compile_time_arg_val(F + 4);
    constexpr uint32_t slot = get_compile_time_arg_val(F + 5), slots = get_compile_time_arg_val(F + 6);
    constexpr uint32_t wo_slots = get_compile_time_arg_val(F + 7);
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

// A leader's tile row of x1, which its owners send.
inline void take_row() {
    constexpr uint32_t hidden = get_compile_time_arg_val(F + 2);
    cb_reserve_back(CB_ROW, hidden);
    noc_semaphore_wait(words_at(get_semaphore(FILLED)), hidden);
    cb_push_back(CB_ROW, hidden);
}

void kernel_main() {
    constexpr uint32_t heads_args = 9, x_args = heads_args + FEEDERS, rest_args = x_args + 1, rows_args = rest_args + 8;
    qkv::stream_columns(0, [] { free_bank(heads_args, get_arg_val<uint32_t>(2) ? FEEDERS : 0, BANK_FREE); });
    if (get_arg_val<uint32_t>(x_args)) All::wait_all();  // attention has the memory of x
    read_rows(rows_args);
    const Rest rest = Rest(get_arg_val<uint32_t>(rest_args));
    if (rest == Rest::Worker) {
        stream_weights(rest_args + 1);
    } else if (rest == Rest::Leader) {
        take_row();
    }
}
