// RMSNorm and rotary embedding of a head in one tile row, d tiles z: the rotation comes first, with gamma in its
// tables, so that neither waits for the sum of squares; the division by the rms comes last.
#pragma once

#include "api/compute/eltwise_unary/negative.h"
#include "compute.h"

// The tile of the other half; halves are whole tiles, so they swap by index.
template <uint32_t d>
constexpr uint32_t other_half(uint32_t tile) {
    return tile < d / 2 ? tile + d / 2 : tile - d / 2;
}

// Consecutive tiles of a buffer.
struct Tiles {
    uint32_t cb, first;
};

// cos * gamma and +-sin * gamma, d tiles each; the low half of a head takes the other with a minus. gamma is valid in
// row 0. All inputs, of one format, stay.
template <uint32_t d>
ALWI void fold_gamma(Tiles cos, Tiles sin, Tiles gamma, uint32_t cos_gamma, uint32_t sin_gamma) {
    reconfig_data_format(cos.cb, gamma.cb);
    pack_reconfig_data_format(cos_gamma);
    mul_bcast_rows_init(cos.cb, gamma.cb);
    push_tiles(cos_gamma, d, [&](uint32_t i, uint32_t dst) {
        mul_tiles_bcast_rows(cos.cb, gamma.cb, cos.first + i, gamma.first + i, dst);
    });
    negative_tile_init();
    push_tiles(sin_gamma, d, [&](uint32_t i, uint32_t dst) {
        mul_tiles_bcast_rows(sin.cb, gamma.cb, sin.first + i, gamma.first + other_half<d>(i), dst);
        if (i < d / 2) negative_tile(dst);
    });
}

// The d front tiles of z, rotated by the d front tiles of the tables. All inputs stay.
template <uint32_t d>
ALWI void rotate(uint32_t z, uint32_t cos_gamma, uint32_t sin_gamma, uint32_t out) {
    reconfig_data_format(z, cos_gamma);
    pack_reconfig_data_format(out);
    mul_init(z, cos_gamma);
    push_tiles(out, d, [&](uint32_t i, uint32_t dst) {
        mul_tiles(z, cos_gamma, i, i, dst);
        mul_tiles(z, sin_gamma, other_half<d>(i), i, dst);
    });
}

// The d front tiles of `in` times column 0 of `factor`, which is popped.
template <uint32_t d>
ALWI void scale_rows(uint32_t in, uint32_t factor, uint32_t out) {
    reconfig_data_format(in, factor);
    pack_reconfig_data_format(out);
    mul_bcast_cols_init(in, factor);
    cb_wait_front(factor, 1);
    push_tiles(out, d, [&](uint32_t i, uint32_t dst) { mul_tiles_bcast_cols(in, factor, i, 0, dst); });
    cb_pop_front(factor, 1);
}
