// RISCV_0 of workers and feeders: what they move before the attention, and after it.
//
// Compile-time args   those of qkv_heads/writer.h; query heads a KV head, R, D, W, r, c, units, units a head, feeders a
//                     bank, banks, pages of a feeder's slot, slots; columns of a unit, groups, parts, hidden; those of
//                     chain.h
// Common args         those of qkv_heads/writer.h (5), address of the output, places of the feeders and of the
//                     two cores that multicast x; of each layer qkv's own (4)
// Runtime args        those of qkv_heads/writer.h (11); first owned column, owned columns, whether x is sent here; for
//                     each own query head the places of its workers; those of the attention; whether the core has a
//                     share of what follows: args of split_linear.h for wo, then for w2, coordinates of the leaders,
//                     x | y << 8. A place is x << 16 | y
#pragma once

#include "plan.h"
#include "chain.h"
#include "hand_over.h"
#include "../attention/load.h"
#include "../wo_swiglu/moves.h"

constexpr uint32_t A = qkv::cache_args.next_compile_time_args_offset();
constexpr uint32_t group_heads = get_compile_time_arg_val(A), R = get_compile_time_arg_val(A + 1);
constexpr uint32_t D = get_compile_time_arg_val(A + 2), W = get_compile_time_arg_val(A + 3);
constexpr uint32_t r = get_compile_time_arg_val(A + 4), c = get_compile_time_arg_val(A + 5);
constexpr uint32_t units = get_compile_time_arg_val(A + 6), units_a_head = get_compile_time_arg_val(A + 7);
constexpr uint32_t feeders = get_compile_time_arg_val(A + 8), banks = get_compile_time_arg_val(A + 9);
constexpr uint32_t slot_pages = get_compile_time_arg_val(A + 10), slots = get_compile_time_arg_val(A + 11);
constexpr uint32_t columns = get_compile_time_arg_val(A + 12), groups = get_compile_time_arg_val(A + 13);
constexpr uint32_t parts = get_compile_time_arg_val(A + 14), hidden = get_compile_time_arg_val(A + 15);
constexpr uint32_t layers = get_compile_time_arg_val(A + 16), done_cores = get_compile_time_arg_val(A + 17);
constexpr uint32_t cbs_low = get_compile_time_arg_val(A + 18), cbs_high = get_compile_time_arg_val(A + 19);
constexpr uint32_t rows = qkv::rows, OUT = qkv::COMMON_ARGS, FEEDERS = OUT + 1, LEADERS = FEEDERS + banks * feeders;
constexpr uint32_t LAYER = LEADERS + 2;

// The core's part of qkv. Returns the index of the next runtime arg.
inline uint32_t project(uint32_t layer) {
    const uint32_t first = get_arg_val<uint32_t>(0), count = get_arg_val<uint32_t>(1);
    constexpr uint32_t places = qkv::RUNTIME_ARGS + 3, places_a_head = units_a_head * W;
    uint32_t queries = 0;
    for (uint32_t column = first; column < first + count; ++column) queries += column < qkv::heads;
    const auto await_x = [] { await_done(done_cores); };
    const auto give_queries = [&](uint32_t head, uint32_t part, uint32_t row) {
        send_queries<group_heads, R, W>(head, part, row, places + (head - first) * places_a_head);
    };
    qkv::write_heads(0, LAYER + layer * qkv::OWN_ARGS, layer > 0, await_x, give_queries);
    if (get_arg_val<uint32_t>(places - 1)) {
        if (count == 0) qkv::All::wait_all();
        if constexpr (qkv::parts > 1) noc_semaphore_set(words_at(get_semaphore(qkv::SUMS_HERE)), 0);
        noc_async_write_barrier();
        for (uint32_t i = 0; i < banks * feeders; ++i) {
            increment(on_core(get_common_arg_val<uint32_t>(FEEDERS + i), get_semaphore(QKV_DONE)), 1);
        }
    }
    return places + queries * places_a_head;
}

// Starts reading the core's residual, before DRAM has a queue. Runtime args 11 and 12: first column, columns.
inline void start_reading_residual() {
    const auto x = TensorAccessor(qkv::x_args, get_common_arg_val<uint32_t>(0), get_tile_size(WO.x));
    constexpr uint32_t arg = qkv::RUNTIME_ARGS;
    start_reading_columns<rows>(x, hidden, get_arg_val<uint32_t>(arg), get_arg_val<uint32_t>(arg + 1), WO.x);
}

// Between layers: the owned columns of x to the core that multicasts their half, and as residual of the next layer.
SMALL inline void pass_on(const Split& w2) {
    const uint32_t owned = w2.get(OWNED), first = w2.get(FIRST_OWNED), column_bytes = rows * get_tile_size(W2.out);
    if (owned == 0) return;
    const uint32_t to = begin_of(qkv::CB_X);
    cb_wait_front(W2.out, owned * rows);
    const uint32_t from = get_read_ptr(W2.out);
    for (uint32_t column = first; column < first + owned; ++column) {
        const uint32_t half = column >= qkv::All::begin(qkv::All::half);
        const uint64_t leader = on_core(get_common_arg_val<uint32_t>(LEADERS + half), to + column * column_bytes);
        send(from + (column - first) * column_bytes, leader, column_bytes);
    }
    noc_async_read(get_noc_addr(from), begin_of(WO.x), owned * column_bytes);
    noc_async_read_barrier();
    noc_async_writes_flushed();
    cb_pop_front(W2.out, owned * rows);
}

// The core's part from wo to the layer's output.
inline void finish(uint32_t arg, bool last) {
    const auto norm_over = [&] {
        if (!last) push_turn();
    };
    if (get_arg_val<uint32_t>(arg++) == 0) {
        for (uint32_t row = 0; row < rows && !last; ++row) {
            noc_semaphore_wait(words_at(get_semaphore(arrived(row))), 1);
        }
        return norm_over();
    }
    const auto out = TensorAccessor(qkv::x_args, get_common_arg_val<uint32_t>(OUT), get_tile_size(W2.out));
    const Split wo(arg, WO, O_ARRIVED, X1_SUMMED), w2(wo.end(), W2, W2_GATHERED, W2_SUMMED);

    push_turn();
    noc_async_read_barrier();
    cb_reserve_back(WO.x, wo.get(OWNED) * rows);
    cb_push_back(WO.x, wo.get(OWNED) * rows);
    receive_output<rows>(wo.get(WIDTH));
    move_sums<rows, columns, groups, parts>(wo, w2, get_semaphore(FILLED), hidden, norm_over);
    if (last) {
        write_owned<rows>(w2, out, hidden);
    } else {
        pass_on(w2);
    }
}

// All layers. attend(arg, layer): the core's part of the attention; its runtime args begin at `arg`, and it returns
// where they end.
template <typename Attend>
inline void move_layers(Attend attend) {
    start_reading_residual();
    for (uint32_t layer = 0; layer < layers; ++layer) {
        finish(attend(project(layer), layer), layer + 1 == layers);
        if (layer + 1 == layers) break;
        end_layer<rows>(LEADERS);
        rewind<cbs_low, cbs_high>();
    }
    noc_async_write_barrier();
    noc_async_atomic_barrier();
}
