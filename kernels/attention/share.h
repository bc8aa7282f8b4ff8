// The exchange between the workers of a head: each owns a part of the output, r x c tiles, and gets from all that have
// rows of K and V their tops, totals and sums of that part.
#pragma once

#include "../shared/dataflow.h"
#include "api/debug/kernel_profiler.hpp"
#include "cbs.h"
#include "roles.h"
#include "rows.h"

namespace attention {

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
struct Exchange {
    uint32_t worker, coordinates;
    Share share;

    // The owners' buffers lie as the own ones. A core that has several units sends to itself alone, so that its own
    // room is all there is to wait for.
    void run() const {
        DeviceZoneScopedN("exchange");
        send_rows(CB_TOP_OUT, 1, CB_TOPS, TOPS_ARRIVED);
        send_rows(CB_TOTAL_OUT, 1, CB_TOTALS, TOTALS_ARRIVED);
        send_rows(CB_SUM_OUT, D, CB_SUMS, SUMS_ARRIVED);
        noc_async_write_barrier();
        noc_async_atomic_barrier();
    }

  private:
    // R rows of `width` tiles, 1 or D: to each owner its part. Then, on an owner, waits for what all workers sent.
    void send_rows(uint32_t from, uint32_t width, uint32_t to, uint32_t semaphore) const {
        const uint32_t owned_width = width == 1 ? 1 : c, tile_bytes = get_tile_size(from);
        const uint32_t arrived = get_semaphore(semaphore);
        cb_reserve_back(to, W * r * owned_width);
        if (share.rows) {
            const uint32_t slot = get_write_ptr(to) + worker * r * owned_width * tile_bytes;
            uint32_t there = 0;
            for_owners([&](uint32_t owner, const Part& part) {
                if (there < part.row + part.rows) {
                    there = part.row + part.rows;
                    cb_wait_front(from, there * width);
                }
                for (uint32_t i = 0; i < part.rows; ++i) {
                    const uint32_t tile = (part.row + i) * width + (width == 1 ? 0 : part.column);
                    send(get_read_ptr(from) + tile * tile_bytes, address_at(owner, slot + i * owned_width * tile_bytes),
                         owned_width * tile_bytes);
                }
            });
            noc_async_writes_flushed();
            for_owners([&](uint32_t owner, const Part&) { increment(address_at(owner, arrived), 1); });
            cb_pop_front(from, R * width);
        }
        if (part_of<R, D, r, c>(worker).rows) {
            noc_semaphore_wait(words_at(arrived), share.active);
            noc_semaphore_set(words_at(arrived), 0);
            cb_push_back(to, W * r * owned_width);
        }
    }

    template <typename Visit>
    void for_owners(Visit visit) const {
        for (uint32_t owner = 0; owner < W; ++owner) {
            const Part part = part_of<R, D, r, c>(owner);
            if (part.rows) visit(owner, part);
        }
    }

    uint64_t address_at(uint32_t owner, uint32_t address) const {
        return on_core(get_arg_val<uint32_t>(coordinates + owner), address);
    }
};

}  // namespace attention
