// A worker that reads its rows of K and V itself, wherever they lie.
#pragma once

#include "load.h"

namespace attention {

constexpr uint32_t IN_FLIGHT = 2;  // chunks, each with a transaction id of its own

// The rows of one head, in blocks of B tile rows.
template <uint32_t D, uint32_t B, typename Accessor>
inline void load_rows(const Accessor& k, const Accessor& v, uint32_t head, const ValidRows& valid, const Share& share) {
    DeviceZoneScopedN("read rows");
    for (uint32_t first = 0; first < share.rows; first += B) {
        const uint32_t n = share.rows - first < B ? share.rows - first : B, partial = partial_in(share, valid) - first;
        uint32_t base[2] = {}, landed = 0;  // of V, of K

        const auto land = [&] {
            const Chunk chunk = chunk_of(n, landed);
            noc_async_read_barrier_with_trid(1 + landed++ % IN_FLIGHT);
            push_chunk<D, B>(chunk, n, partial, base[chunk.keys], valid.rows_of_partial());
        };
        for (uint32_t i = 0; i < chunks_of(n); ++i) {
            if (i - landed == IN_FLIGHT) land();
            const Chunk chunk = chunk_of(n, i);
            if (chunk.at == 0) {
                cb_reserve_back(chunk.cb(), B * D);
                base[chunk.keys] = get_write_ptr(chunk.cb());
            }
            noc_async_read_set_trid(1 + i % IN_FLIGHT);
            for (uint32_t row = 0; row < chunk.height; ++row) {
                const uint32_t at = valid.tile_row(share.first + first + chunk.at + row);
                const uint32_t page = (head * valid.cache_rows + at) * D;
                for (uint32_t c = 0; c < D; ++c) {
                    const uint32_t to = base[chunk.keys] + chunk.tile(D, row, c) * get_tile_size(chunk.cb());
                    noc_async_read_page(page + c, chunk.keys ? k : v, to);
                }
            }
        }
        while (landed < chunks_of(n)) land();
    }
    noc_async_read_set_trid(0);
}

}  // namespace attention
