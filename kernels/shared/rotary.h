// RMSNorm and rotary embedding of a head z, d tiles a tile row: the rotation comes first, with gamma in its tables, so
// that neither waits for the sum of squares; the division by the rms comes last.
//
// A core may have some of the tiles only: n of them, as many of the low half as of the high, which the rotation pairs.
#pragma once

#include "api/compute/eltwise_unary/negative.h"
#include "compute.h"
#include "heads.h"

// The tile of the other half; halves are whole tiles, so they swap by index.
template <uint32_t n>
constexpr uint32_t other_half(uint32_t tile) {
    return tile < n / 2 ? tile + n / 2 : tile - n / 2;
}

// A table of d tiles in a buffer.
struct Table {
    uint32_t cb, first;
};

// cos * gamma and +-sin * gamma for the n tiles that `part` of a head has; the low half of a head takes the other with
// a minus. gamma is valid in row 0. All inputs, of one format, stay.
template <uint32_t n, uint32_t d>
ALWI void fold_gamma(Table cos, Table sin, Table gamma, uint32_t part, uint32_t cos_gamma, uint32_t sin_gamma) {
    DeviceZoneScopedN("tables");
    reconfig_data_format(cos.cb, gamma.cb);
    pack_reconfig_data_format(cos_gamma);
    mul_bcast_rows_init(cos.cb, gamma.cb);
    push_tiles(cos_gamma, n, [&](uint32_t i, uint32_t dst) {
        const uint32_t column = column_of<n, d>(part, i);
        mul_tiles_bcast_rows(cos.cb, gamma.cb, cos.first + column, gamma.first + column, dst);
    });
    negative_tile_init();
    push_tiles(sin_gamma, n, [&](uint32_t i, uint32_t dst) {
        const uint32_t column = column_of<n, d>(part, i);
        mul_tiles_bcast_rows(sin.cb, gamma.cb, sin.first + column, gamma.first + other_half<d>(column), dst);
        if (i < n / 2) negative_tile(dst);
    });
}

// `rows` tile rows of z, n front tiles each, rotated by as many front tiles of the tables. All inputs stay.
template <uint32_t rows, uint32_t n>
ALWI void rotate(uint32_t z, uint32_t cos_gamma, uint32_t sin_gamma, uint32_t out) {
    DeviceZoneScopedN("rotate");
    reconfig_data_format(z, cos_gamma);
    pack_reconfig_data_format(out);
    mul_init(z, cos_gamma);
    push_tiles(out, rows * n, [&](uint32_t i, uint32_t dst) {
        mul_tiles(z, cos_gamma, i, i, dst);
        mul_tiles(z, sin_gamma, i / n * n + other_half<n>(i % n), i, dst);
    });
}

// `rows` tile rows of `in`, n front tiles each, times column 0 of the front tile of `factors` for each row.
template <uint32_t rows, uint32_t n>
ALWI void scale_rows(uint32_t in, uint32_t factors, uint32_t out) {
    DeviceZoneScopedN("scale");
    reconfig_data_format(in, factors);
    pack_reconfig_data_format(out);
    mul_bcast_cols_init(in, factors);
    push_tiles(out, rows * n, [&](uint32_t i, uint32_t dst) { mul_tiles_bcast_cols(in, factors, i, i / n, dst); });
}
