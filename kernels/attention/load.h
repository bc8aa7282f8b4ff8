// A worker's rows of K and V from the caches into its circular buffers, many reads ahead of the compute kernel.
#pragma once

#include "../shared/dataflow.h"
#include "cbs.h"
#include "rows.h"

constexpr uint32_t IN_FLIGHT = 12;    // chunks, each with a transaction id of its own
constexpr uint32_t ZEROS_TRID = 15;
constexpr uint32_t WORDS_BYTES = 64;  // of the context's valid_rows

// S, through the reserved page of a circular buffer.
template <typename Accessor>
inline uint32_t read_valid(const Accessor& words, uint32_t cb) {
    cb_reserve_back(cb, 1);
    noc_async_read_page(0, words, get_write_ptr(cb));
    noc_async_read_barrier();
    invalidate_l1_cache();
    return words_at(get_write_ptr(cb))[0];
}

// The partial tile row within a share, counted from its first.
inline uint32_t partial_in(const Share& share, const ValidRows& valid) {
    const uint32_t partial = valid.partial();
    return partial - share.first < share.rows ? partial - share.first : NO_ROW;
}

inline void push_info(const Share& share, const ValidRows& valid) {
    volatile tt_l1_ptr uint32_t* info = words_at(get_write_ptr(CB_INFO));
    info[INFO_ROWS] = share.rows;
    info[INFO_ACTIVE] = share.active;
    info[INFO_PARTIAL] = partial_in(share, valid);
    cb_push_back(CB_INFO, 1);
}

// Zeros over 512 B or less.
inline void start_clearing(uint32_t address, uint32_t bytes) {
    if (bytes) noc_async_read(get_noc_addr(MEM_ZEROS_BASE), address, bytes);
}

// Zeros over the rows of a tile from `rows` on. What lies there may be anything, and 0 * NaN is NaN. The exponents of a
// block format may stay: mantissas of zero are zeros.
inline void start_clearing_rows(uint32_t cb, uint32_t tile, uint32_t rows) {
    const bool blocks = get_dataformat(cb) == DataFormat::Bfp8_b;
    const uint32_t row_bytes = blocks ? 16 : 32, exponents = blocks ? 64 : 0;
    for (uint32_t face = 0; face < 4; ++face) {
        const uint32_t top = face < 2 ? 0 : 16;
        const uint32_t kept = rows <= top ? 0 : rows - top < 16 ? rows - top : 16;
        start_clearing(tile + exponents + (face * 16 + kept) * row_bytes, (16 - kept) * row_bytes);
    }
}

// CB_MASK: what is added to the scores of the partial tile row, from column 0 of a tile that is transposed.
inline void push_mask(uint32_t rows) {
    constexpr uint32_t huge = 0xF149;  // about -1e30, a bf16
    cb_reserve_back(CB_MASK, 1);
    const uint32_t tile = get_write_ptr(CB_MASK);
    for (uint32_t face = 0; face < 4; ++face) start_clearing(tile + face * 512, 512);
    noc_async_read_barrier_with_trid(ZEROS_TRID);
    for (uint32_t row = rows; row < 32; ++row) words_at(tile)[(row < 16 ? 0 : 256) + row % 16 * 8] = huge;
    cb_push_back(CB_MASK, 1);
}

// The rows of one head in blocks of B tile rows: K chunk by chunk, each column by column, then V row by row.
template <uint32_t D, uint32_t B, typename Accessor>
inline void load_rows(const Accessor& k, const Accessor& v, uint32_t head, const ValidRows& valid, const Share& share) {
    const uint32_t partial = partial_in(share, valid);
    for (uint32_t first = 0; first < share.rows; first += B) {
        const uint32_t n = share.rows - first < B ? share.rows - first : B;
        const uint32_t chunks = (n + CHUNK - 1) / CHUNK;
        uint32_t landed = 0;

        const auto land = [&] {
            const bool keys = landed < chunks;
            const uint32_t cb = keys ? CB_K : CB_V, at = (keys ? landed : landed - chunks) * CHUNK;
            const uint32_t height = n - at < CHUNK ? n - at : CHUNK;
            noc_async_read_barrier_with_trid(1 + landed % IN_FLIGHT);
            const uint32_t row = partial - first - at;
            if (row < height) {
                noc_async_read_set_trid(ZEROS_TRID);
                for (uint32_t c = 0; c < D; ++c) {
                    const uint32_t tile = keys ? c * height + row : row * D + c;
                    start_clearing_rows(cb, get_write_ptr(cb) + tile * get_tile_size(cb), valid.rows_of_partial());
                }
                if (keys) push_mask(valid.rows_of_partial());
                noc_async_read_barrier_with_trid(ZEROS_TRID);
            }
            // The last chunk of a block brings the pages that it leaves empty.
            cb_push_back(cb, (at + height == n ? B - at : height) * D);
            ++landed;
        };

        uint32_t base = 0;
        for (uint32_t chunk = 0; chunk < 2 * chunks; ++chunk) {
            if (chunk - landed == IN_FLIGHT) land();
            const bool keys = chunk < chunks;
            const uint32_t cb = keys ? CB_K : CB_V, at = (keys ? chunk : chunk - chunks) * CHUNK;
            const uint32_t height = n - at < CHUNK ? n - at : CHUNK;
            if (at == 0) {
                cb_reserve_back(cb, B * D);
                base = get_write_ptr(cb);
            }
            noc_async_read_set_trid(1 + chunk % IN_FLIGHT);
            for (uint32_t i = 0; i < height; ++i) {
                const uint32_t page = (head * valid.cache_rows + valid.tile_row(share.first + first + at + i)) * D;
                for (uint32_t c = 0; c < D; ++c) {
                    const uint32_t tile = at * D + (keys ? c * height + i : i * D + c);
                    noc_async_read_page(page + c, keys ? k : v, base + tile * get_tile_size(cb));
                }
            }
        }
        while (landed < 2 * chunks) land();
    }
}
