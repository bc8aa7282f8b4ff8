// What the data-movement kernels of attention share: S, the words for compute, and what is done about rows that are not
// valid.
#pragma once

#include "../shared/dataflow.h"
#include "api/debug/kernel_profiler.hpp"
#include "cbs.h"
#include "rows.h"

namespace attention {

constexpr uint32_t ZEROS_TRID = 15;
constexpr uint32_t WORDS_BYTES = 64;  // of the context's valid_rows; S is word 0

// S, read by RISCV_1, which passes it to RISCV_0 through CB_VALID.
template <typename Words>
inline uint32_t read_valid(const Words& words) {
    cb_reserve_back(CB_VALID, 1);
    const uint32_t to = get_write_ptr(CB_VALID);
    noc_async_read_page(0, words, to);
    noc_async_read_barrier();
    invalidate_l1_cache();
    const uint32_t S = words_at(to)[0];
    cb_push_back(CB_VALID, 1);
    return S;
}
inline uint32_t take_valid() {
    cb_wait_front(CB_VALID, 1);
    invalidate_l1_cache();
    const uint32_t S = words_at(get_read_ptr(CB_VALID))[0];
    cb_pop_front(CB_VALID, 1);
    return S;
}

// The partial tile row within a share, counted from its first.
inline uint32_t partial_in(const Share& share, const ValidRows& valid) {
    const uint32_t partial = valid.partial();
    return partial - share.first < share.rows ? partial - share.first : NO_ROW;
}

// Words for compute.
inline void push_info(const Share& share, const ValidRows& valid) {
    cb_reserve_back(CB_INFO, 1);
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

// A chunk of K or V: `height` tile rows, in a circular buffer from the page of its row `at` on. Keys lie column by
// column, values row by row.
struct Chunk {
    bool keys;
    uint32_t at, height;

    uint32_t cb() const { return keys ? CB_K : CB_V; }
    uint32_t tile(uint32_t D, uint32_t row, uint32_t column) const {
        return at * D + (keys ? column * height + row : row * D + column);
    }
};

// The i-th chunk of n tile rows: all of K, then all of V.
inline Chunk chunk_of(uint32_t n, uint32_t i) {
    const uint32_t chunks = (n + CHUNK - 1) / CHUNK, at = (i < chunks ? i : i - chunks) * CHUNK;
    return {i < chunks, at, n - at < CHUNK ? n - at : CHUNK};
}
inline uint32_t chunks_of(uint32_t n) { return 2 * ((n + CHUNK - 1) / CHUNK); }

// Hands a chunk that has arrived to compute. n: tile rows of its block; partial: the partial one among them. The last
// chunk of a block brings the pages that the block leaves empty.
template <uint32_t D, uint32_t B>
inline void push_chunk(const Chunk& chunk, uint32_t n, uint32_t partial, uint32_t base, uint32_t valid_rows) {
    const uint32_t row = partial - chunk.at;
    if (row < chunk.height) {
        noc_async_read_set_trid(ZEROS_TRID);
        for (uint32_t c = 0; c < D; ++c) {
            start_clearing_rows(chunk.cb(), base + chunk.tile(D, row, c) * get_tile_size(chunk.cb()), valid_rows);
        }
        if (chunk.keys) push_mask(valid_rows);
        noc_async_read_barrier_with_trid(ZEROS_TRID);
    }
    cb_push_back(chunk.cb(), (chunk.at + chunk.height == n ? B - chunk.at : chunk.height) * D);
}

}  // namespace attention
