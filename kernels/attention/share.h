// The exchange between the workers of a head: each owns a part of the output, r x c tiles, and gets from all that have
// rows of K and V their tops, totals and sums of that part.
#pragma once

#include "../shared/dataflow.h"
#include "api/debug/kernel_profiler.hpp"
#include "cbs.h"
#include "roles.h"
#include "rows.h"

// The part of the output, R x D tiles, that a worker owns: rows 0 if none.
struct Part {
    uint32_t row, column, rows;
};

template <uint32_t R, uint32_t D, uint32_t r, uint32_t c>
inline Part part_of(uint32_t worker) {
    constexpr uint32_t across = D / c;
    const uint32_t row = worker / across * r;
    const uint32_t rows = row >= R ? 0 : R - row < r ? R - row : r;
    return {row, worker % across * c, rows};
}

// Pushes a bf16 tile of ones.
inline void push_ones_tile() {
    cb_reserve_back(CB_ONES, 1);
    volatile tt_l1_ptr uint32_t* tile = words_at(get_write_ptr(CB_ONES));
    for (uint32_t i = 0; i < 512; ++i) tile[i] = 0x3F803F80;
    cb_push_back(CB_ONES, 1);
}

// The NoC coordinates of the workers are runtime args, x << 16 | y, from `coordinates` on. Semaphores end as they
// began.
template <uint32_t R, uint32_t D, uint32_t W, uint32_t r, uint32_t c>
inline void exchange(uint32_t worker, uint32_t coordinates, const Share& share) {
    DeviceZoneScopedN("exchange");
    constexpr uint32_t narrow_bytes = get_tile_size(CB_TOPS), wide_bytes = get_tile_size(CB_SUMS);
    const uint32_t statistics_arrived = get_semaphore(STATISTICS_ARRIVED), sums_arrived = get_semaphore(SUMS_ARRIVED);
    const bool owns = part_of<R, D, r, c>(worker).rows;
    const auto address_at = [&](uint32_t owner, uint32_t address) {
        const uint32_t place = get_arg_val<uint32_t>(coordinates + owner);
        return get_noc_addr(place >> 16, place & 0xFFFF, address);
    };
    const auto for_owners = [](auto visit) {
        for (uint32_t owner = 0; owner < W; ++owner) {
            const Part part = part_of<R, D, r, c>(owner);
            if (part.rows) visit(owner, part);
        }
    };
    // Circular buffers lie alike on all cores. A core that has several units sends to itself alone, so its own room is
    // all there is to wait for.
    cb_reserve_back(CB_TOPS, W * r);
    cb_reserve_back(CB_TOTALS, W * r);
    cb_reserve_back(CB_SUMS, W * r * c);
    const uint32_t tops = get_write_ptr(CB_TOPS) + worker * r * narrow_bytes;
    const uint32_t totals = get_write_ptr(CB_TOTALS) + worker * r * wide_bytes;
    const uint32_t sums = get_write_ptr(CB_SUMS) + worker * r * c * wide_bytes;
    if (share.rows) {
        cb_wait_front(CB_TOP_OUT, R);
        cb_wait_front(CB_TOTAL_OUT, R);
        for_owners([&](uint32_t owner, const Part& part) {
            noc_async_write(get_read_ptr(CB_TOP_OUT) + part.row * narrow_bytes, address_at(owner, tops),
                            part.rows * narrow_bytes);
            noc_async_write(get_read_ptr(CB_TOTAL_OUT) + part.row * wide_bytes, address_at(owner, totals),
                            part.rows * wide_bytes);
        });
        noc_async_writes_flushed();
        for_owners([&](uint32_t owner, const Part&) { noc_semaphore_inc(address_at(owner, statistics_arrived), 1); });
        cb_pop_front(CB_TOP_OUT, R);
        cb_pop_front(CB_TOTAL_OUT, R);
    }
    if (owns) {
        noc_semaphore_wait(words_at(statistics_arrived), share.active);
        noc_semaphore_set(words_at(statistics_arrived), 0);
        cb_push_back(CB_TOPS, W * r);
        cb_push_back(CB_TOTALS, W * r);
    }
    if (share.rows) {
        uint32_t there = 0;
        for_owners([&](uint32_t owner, const Part& part) {
            if (there < part.row + part.rows) {
                there = part.row + part.rows;
                cb_wait_front(CB_SUM_OUT, there * D);
            }
            for (uint32_t i = 0; i < part.rows; ++i) {
                const uint32_t from = get_read_ptr(CB_SUM_OUT) + ((part.row + i) * D + part.column) * wide_bytes;
                noc_async_write(from, address_at(owner, sums + i * c * wide_bytes), c * wide_bytes);
            }
        });
        noc_async_writes_flushed();
        for_owners([&](uint32_t owner, const Part&) { noc_semaphore_inc(address_at(owner, sums_arrived), 1); });
        cb_pop_front(CB_SUM_OUT, R * D);
    }
    if (owns) {
        noc_semaphore_wait(words_at(sums_arrived), share.active);
        noc_semaphore_set(words_at(sums_arrived), 0);
        cb_push_back(CB_SUMS, W * r * c);
    }
    noc_async_write_barrier();
    noc_async_atomic_barrier();
}
