// The workers of a unit get its queries and S from each other: each reads a part and sends it to all others.
#pragma once

#include "load.h"

namespace attention {

// The first worker reads S too. Returns S; CB_Q is pushed. Coordinates of the workers are runtime args, x << 16 | y,
// from `coordinates` on; the semaphore ends as it began.
template <uint32_t R, uint32_t D, uint32_t W, typename Accessor, typename Words>
inline uint32_t gather_queries(const Accessor& q, const Words& words, uint32_t unit, uint32_t worker,
                               uint32_t coordinates, uint32_t arrived) {
    DeviceZoneScopedN("queries");
    constexpr uint32_t tiles = R * D, tile_bytes = get_tile_size(CB_Q);
    const uint32_t first = worker * tiles / W, n = (worker + 1) * tiles / W - first;
    cb_reserve_back(CB_Q, tiles);
    cb_reserve_back(CB_VALID, 1);
    const uint32_t part = get_write_ptr(CB_Q) + first * tile_bytes, valid = get_write_ptr(CB_VALID);
    for (uint32_t i = 0; i < n; ++i) noc_async_read_page(unit * tiles + first + i, q, part + i * tile_bytes);
    if (worker == 0) noc_async_read_page(0, words, valid);
    noc_async_read_barrier();
    const auto address_at = [&](uint32_t i, uint32_t address) {
        return on_core(get_arg_val<uint32_t>(coordinates + (worker + i) % W), address);
    };
    for (uint32_t i = 1; i < W; ++i) {
        if (n) noc_async_write(part, address_at(i, part), n * tile_bytes);
        if (worker == 0) noc_async_write(valid, address_at(i, valid), WORDS_BYTES);
    }
    noc_async_writes_flushed();
    for (uint32_t i = 1; i < W; ++i) noc_semaphore_inc(address_at(i, arrived), 1);
    noc_semaphore_wait(words_at(arrived), W - 1);
    noc_semaphore_set(words_at(arrived), 0);
    noc_async_write_barrier();
    noc_async_atomic_barrier();
    invalidate_l1_cache();
    const uint32_t S = words_at(valid)[0];
    cb_push_back(CB_Q, tiles);
    cb_push_back(CB_VALID, 1);
    return S;
}

}  // namespace attention
