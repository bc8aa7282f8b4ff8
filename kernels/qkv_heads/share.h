// What a core of qkv_heads works on: some heads, and of their product a slice of K. Of the tile rows it finishes those
// that are its slice modulo the number of slices; of the others it sends its part to the core of the same head that
// does.
#pragma once

#include "../shared/heads.h"

template <uint32_t rows, uint32_t slices>
struct Share {
    uint32_t slice;

    constexpr bool owns(uint32_t row) const { return row % slices == slice; }
    // Own rows before a row.
    constexpr uint32_t own_before(uint32_t row) const { return (row + slices - 1 - slice) / slices; }
    constexpr uint32_t own_rows() const { return own_before(rows); }
};

// Where the part of a row from another slice lies at the row's owner.
template <uint32_t slices>
constexpr uint32_t received_slot(uint32_t row, uint32_t from) {
    return row / slices * (slices - 1) + (from < row % slices ? from : from - 1);
}
