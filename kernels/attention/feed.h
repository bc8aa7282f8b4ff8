// Feeders: cores next to a DRAM bank that read what the bank holds of K and V and send each page to the worker that
// needs it. A core that stays with a bank of its own NoC row gets all of the bank's bandwidth, which readers all over
// the grid do not.
//
// Pages of a tensor that are `banks` apart lie one after another in a bank, so what a bank has of a chunk is one read.
// A worker gets its chunks in order from every bank, and counts what it got from each.
#pragma once

#include "load.h"

namespace attention {

constexpr uint32_t READS = 6;  // in flight

// The pages [first, last) of consecutive tile rows of a head, from row `row` of a chunk on.
struct Run {
    uint32_t row, first, last;

    // Those in a bank: the first, and how many.
    uint32_t first_in(uint32_t bank, uint32_t banks) const { return first + (bank + banks - first % banks) % banks; }
    uint32_t count_in(uint32_t bank, uint32_t banks) const {
        const uint32_t from = first_in(bank, banks);
        return from < last ? (last - from + banks - 1) / banks : 0;
    }
};

// Calls `visit` for each run of a chunk of a share: one, or two where the own rows begin in it.
template <uint32_t D, typename Visit>
inline void for_runs(const ValidRows& valid, uint32_t head, const Share& share, const Chunk& chunk, Visit visit) {
    const uint32_t begin = share.first + chunk.at, end = begin + chunk.height;
    for (uint32_t i = begin; i < end;) {
        const uint32_t next = i < valid.before() && valid.before() < end ? valid.before() : end;
        const uint32_t page = (head * valid.cache_rows + valid.tile_row(i)) * D;
        visit(Run{i - begin, page, page + (next - i) * D});
        i = next;
    }
}

// Calls `visit` for each chunk that a feeder handles: those of the workers feeder, feeder + feeders, ...: of all
// workers the first chunk, then of all the second, and so on.
template <uint32_t W, typename Visit>
inline void for_chunks(const ValidRows& valid, uint32_t feeder, uint32_t feeders, uint32_t units, Visit visit) {
    const uint32_t active = share_of(0, W, valid.count()).active;
    const uint32_t most = (valid.count() + active - 1) / active, rounds = (most + CHUNK - 1) / CHUNK;
    for (uint32_t round = 0; round < 2 * rounds; ++round) {
        for (uint32_t i = feeder; i < units * W; i += feeders) {
            const Share share = share_of(i % W, W, valid.count());
            const uint32_t own = chunks_of(share.rows) / 2, index = round < rounds ? round : round - rounds;
            if (index < own) visit(i, share, chunk_of(share.rows, round < rounds ? index : own + index));
        }
    }
}

struct Feeder {
    uint32_t bank, banks, feeder, feeders, units, units_a_head;
    uint32_t slot_pages, slots;  // of CB_FEED: reads in flight and pages on their way out
};

// RISCV_1: what the bank has of each chunk, a slot of CB_FEED each. before: what to do before a chunk is read.
template <uint32_t D, uint32_t W, typename Accessor, typename Work>
inline void read_bank(const Feeder& f, const Accessor& k, const Accessor& v, const ValidRows& valid, Work before) {
    DeviceZoneScopedN("read bank");
    constexpr uint32_t page_bytes = get_tile_size(CB_FEED);
    const uint32_t base = get_write_ptr(CB_FEED);
    uint32_t issued = 0, landed = 0;
    const auto land = [&] {
        noc_async_read_barrier_with_trid(1 + landed++ % READS);
        cb_push_back(CB_FEED, f.slot_pages);
    };
    for_chunks<W>(valid, f.feeder, f.feeders, f.units, [&](uint32_t worker, const Share& share, const Chunk& chunk) {
        if (issued - landed == READS) land();
        cb_reserve_back(CB_FEED, (issued - landed + 1) * f.slot_pages);
        before(share, chunk);
        uint32_t to = base + issued % f.slots * f.slot_pages * page_bytes;
        noc_async_read_set_trid(1 + issued++ % READS);
        for_runs<D>(valid, worker / W / f.units_a_head, share, chunk, [&](const Run& run) {
            const uint32_t n = run.count_in(f.bank, f.banks);
            if (n == 0) return;
            noc_async_read((chunk.keys ? k : v).get_noc_addr(run.first_in(f.bank, f.banks)), to, n * page_bytes);
            to += n * page_bytes;
        });
    });
    while (landed < issued) land();
    noc_async_read_set_trid(0);
}

// RISCV_0: sends the pages on. Workers' NoC coordinates are runtime args, x << 16 | y, from `coordinates` on. A chunk
// is announced when the next one is on its way, so that nothing waits for its pages to leave.
template <uint32_t D, uint32_t W>
inline void send_pages(const Feeder& f, uint32_t coordinates, uint32_t arrived, const ValidRows& valid) {
    DeviceZoneScopedN("send");
    constexpr uint32_t page_bytes = get_tile_size(CB_FEED);
    const uint32_t base = get_read_ptr(CB_FEED);
    uint32_t sent = 0, last_worker = 0, last_pages = 0;
    const auto address_at = [&](uint32_t worker, uint32_t address) {
        return on_core(get_arg_val<uint32_t>(coordinates + worker), address);
    };
    const auto announce = [&] {
        noc_async_write_flushed_with_trid(1 + (sent - 1) % 2);
        if (last_pages) noc_semaphore_inc(address_at(last_worker, arrived), last_pages);
        cb_pop_front(CB_FEED, f.slot_pages);
    };
    for_chunks<W>(valid, f.feeder, f.feeders, f.units, [&](uint32_t worker, const Share& share, const Chunk& chunk) {
        const uint32_t to = get_write_ptr(chunk.cb());
        cb_wait_front(CB_FEED, (sent ? 2 : 1) * f.slot_pages);
        uint32_t from = base + sent % f.slots * f.slot_pages * page_bytes, pages = 0;
        noc_async_write_set_trid(1 + sent % 2);
        for_runs<D>(valid, worker / W / f.units_a_head, share, chunk, [&](const Run& run) {
            for (uint32_t page = run.first_in(f.bank, f.banks); page < run.last; page += f.banks) {
                const uint32_t row = (page - run.first) / D, column = (page - run.first) % D;
                const uint32_t tile = chunk.tile(D, run.row + row, column);
                noc_async_write(from, address_at(worker, to + tile * page_bytes), page_bytes);
                from += page_bytes;
                ++pages;
            }
        });
        if (sent) announce();
        ++sent;
        last_worker = worker;
        last_pages = pages;
    });
    if (sent) announce();
    noc_async_write_set_trid(0);
    noc_async_write_barrier();
    noc_async_atomic_barrier();
}

// On a worker: hands the chunks that the feeders send to compute. Each bank has a semaphore, from `first_semaphore` on;
// they end as they began, before compute has the last chunk.
template <uint32_t D, uint32_t B>
inline void receive_rows(uint32_t head, uint32_t banks, uint32_t first_semaphore, const ValidRows& valid,
                         const Share& share) {
    DeviceZoneScopedN("receive");
    const uint32_t partial = partial_in(share, valid);
    const uint32_t base[2] = {get_write_ptr(CB_V), get_write_ptr(CB_K)};
    uint32_t expected[8] = {};
    cb_reserve_back(CB_K, B * D);
    cb_reserve_back(CB_V, B * D);
    for (uint32_t i = 0, chunks = chunks_of(share.rows); i < chunks; ++i) {
        const Chunk chunk = chunk_of(share.rows, i);
        for_runs<D>(valid, head, share, chunk, [&](const Run& run) {
            for (uint32_t bank = 0; bank < banks; ++bank) expected[bank] += run.count_in(bank, banks);
        });
        for (uint32_t bank = 0; bank < banks; ++bank) {
            noc_semaphore_wait_min(words_at(get_semaphore(first_semaphore + bank)), expected[bank]);
        }
        if (i + 1 == chunks) {
            for (uint32_t bank = 0; bank < banks; ++bank) {
                noc_semaphore_set(words_at(get_semaphore(first_semaphore + bank)), 0);
            }
        }
        push_chunk<D, B>(chunk, share.rows, partial, base[chunk.keys], valid.rows_of_partial());
    }
    noc_async_read_set_trid(0);
}

}  // namespace attention
