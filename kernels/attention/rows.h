// Which tile rows of K and V count, and who works on which. All that depends on S is here.
#pragma once

#include <cstdint>

namespace attention {

constexpr uint32_t NO_ROW = ~0u;
constexpr uint32_t CHUNK = 4;  // tile rows that travel and are worked on together

// The valid tile rows of a cache in order: those with rows before S, then the own ones at its end.
struct ValidRows {
    uint32_t S;           // valid rows
    uint32_t cache_rows;  // tile rows of the cache
    uint32_t own_rows;    // tile rows of the own tokens, the cache's last

    uint32_t before() const { return (S + 31) / 32; }
    uint32_t count() const { return before() + own_rows; }
    // Where the i-th valid tile row lies.
    uint32_t tile_row(uint32_t i) const { return i < before() ? i : cache_rows - own_rows + i - before(); }
    // The valid tile row that ends in rows that are not, and how many of it are.
    uint32_t partial() const { return S % 32 ? S / 32 : NO_ROW; }
    uint32_t rows_of_partial() const { return S % 32; }
};

// What one of a head's workers takes of the valid tile rows.
struct Share {
    uint32_t first, rows;
    uint32_t active;  // workers that have any
};

inline Share share_of(uint32_t worker, uint32_t workers, uint32_t count) {
    const uint32_t active = workers < count ? workers : count;
    if (worker >= active) return {0, 0, active};
    const uint32_t first = worker * count / active;
    return {first, (worker + 1) * count / active - first, active};
}

// Words of CB_INFO: rows and active of the share, and its partial row, NO_ROW if another worker has it.
constexpr uint32_t INFO_ROWS = 0, INFO_ACTIVE = 1, INFO_PARTIAL = 2;

}  // namespace attention
