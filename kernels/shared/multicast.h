// Activations from DRAM to all cores: one core reads them and multicasts them, half on each NoC.
#pragma once

#include "dataflow.h"

// A rectangle of cores in NoC coordinates, from (x0, y0) to (x1, y1) in the direction of the NoC that is used: NoC 0
// goes right and down, NoC 1 left and up. `others`: its cores without the sender, which is one of them.
struct Everyone {
    uint32_t x0, y0, x1, y1, others;

    uint64_t at(uint32_t address) const { return get_noc_multicast_addr(x0, y0, x1, y1, address); }
};

// Reads `n` pages from `first_page` on to `to`, one after another, and multicasts packets of them to the same address of
// all others as soon as they are there; then sets `arrived` there to 1. Source and flag are in the L1 of the sender, and
// are those of the others too: a circular buffer and a semaphore that all of them have.
template <typename Accessor>
inline void read_and_multicast(const Accessor& tensor, uint32_t first_page, uint32_t n, uint32_t to,
                               uint32_t page_bytes, uint32_t arrived, const Everyone& everyone) {
    constexpr uint32_t depth = 8;
    const uint32_t chunk = NOC_MAX_BURST_SIZE / page_bytes;
    const auto pages = [&](uint32_t i) { return n - i * chunk < chunk ? n - i * chunk : chunk; };
    const uint32_t chunks = (n + chunk - 1) / chunk;
    const auto start = [&](uint32_t i) {
        noc_async_read_set_trid(1 + i % depth);
        for (uint32_t page = i * chunk; page < i * chunk + pages(i); ++page) {
            noc_async_read_page(first_page + page, tensor, to + page * page_bytes);
        }
    };
    for (uint32_t i = 0; i < chunks && i < depth; ++i) start(i);
    for (uint32_t i = 0; i < chunks; ++i) {
        noc_async_read_barrier_with_trid(1 + i % depth);
        if (i + depth < chunks) start(i + depth);
        const uint32_t from = to + i * chunk * page_bytes;
        // Linked but for the last: the path through the NoC stays open.
        noc_async_write_multicast(from, everyone.at(from), pages(i) * page_bytes, everyone.others, i + 1 < chunks);
    }
    noc_async_read_set_trid(0);
    noc_semaphore_set(words_at(arrived), 1);
    noc_async_writes_flushed();  // Blackhole may let the flag overtake the payload otherwise
    noc_semaphore_set_multicast(arrived, everyone.at(arrived), everyone.others);
    noc_async_write_barrier();
}
