// x to all cores: two of them read a half each and multicast it, one on each NoC, in chunks of K tiles that the others
// can work on before the rest is there.
#pragma once

#include "../shared/multicast.h"
#include "cbs.h"

namespace qkv {

// Semaphores: chunks of x that have come on each NoC, on NoC 1 then the tables; sums of squares of groups of tile rows.
enum { CHUNKS_HERE, SUMS_HERE = 2 };

// Chunks of as many K tiles each, the first half of them by the leader of NoC 0.
template <uint32_t k_tiles, uint32_t chunk>
struct Chunks {
    static constexpr uint32_t count = (k_tiles + chunk - 1) / chunk, half = (count + 1) / 2;

    static constexpr uint32_t begin(uint32_t i) { return i * chunk; }
    static constexpr uint32_t end(uint32_t i) { return i + 1 == count ? k_tiles : (i + 1) * chunk; }

    // Until the chunk with a K tile is there; returns where it ends.
    static uint32_t wait(uint32_t k) {
        const uint32_t i = k / chunk;
        noc_semaphore_wait_min(words_at(get_semaphore(CHUNKS_HERE + (i >= half))), i >= half ? i - half + 1 : i + 1);
        return end(i);
    }

    // The count of NoC 1 when the tables are there too, which come after x.
    static constexpr uint32_t tables = count - half + 1;

    // Until x and the tables are there.
    static void wait_all() {
        noc_semaphore_wait_min(words_at(get_semaphore(CHUNKS_HERE)), half);
        noc_semaphore_wait_min(words_at(get_semaphore(CHUNKS_HERE + 1)), tables);
    }
};

// The half of x of this NoC, K tile by K tile, each with its tile rows. First its reads are started, then `others`.
// sent: x comes here from other cores, and await_x returns when it has.
template <typename All, uint32_t k_tiles, uint32_t rows, typename Accessor, typename Others, typename Await>
inline void lead(const Accessor& x, const Everyone& everyone, Others start_others, bool sent, Await await_x) {
    constexpr uint32_t first = noc_index == 0 ? 0 : All::half, last = noc_index == 0 ? All::half : All::count;
    static_assert(last - first < 15, "a transaction id for each chunk");
    const uint32_t bytes = rows * get_tile_size(CB_X);  // of a K tile
    const uint32_t to = get_write_ptr(CB_X), arrived = get_semaphore(CHUNKS_HERE + noc_index);
    for (uint32_t i = first; i < last && !sent; ++i) {
        noc_async_read_set_trid(1 + i - first);
        for (uint32_t k = All::begin(i); k < All::end(i); ++k) {
            for (uint32_t row = 0; row < rows; ++row) {
                noc_async_read_page(row * k_tiles + k, x, to + k * bytes + row * get_tile_size(CB_X));
            }
        }
    }
    noc_async_read_set_trid(15);
    start_others();
    if (sent) await_x();
    for (uint32_t i = first; i < last; ++i) {
        noc_async_read_barrier_with_trid(1 + i - first);
        const uint32_t from = to + All::begin(i) * bytes;
        multicast(from, (All::end(i) - All::begin(i)) * bytes, everyone);
        send_flag(arrived, 1 + i - first, everyone);
    }
    noc_async_read_barrier_with_trid(15);
    noc_async_read_set_trid(0);
}

}  // namespace qkv
