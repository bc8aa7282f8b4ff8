// Circular buffers of heads_rope; d is head_dim in tiles. Formats stand in the implementation's table.
#pragma once

#include <cstdint>

constexpr uint32_t CB_IN = 0;         // d tiles of a head, from qkv
constexpr uint32_t CB_TABLES = 1;     // d tiles a tile row of cos, d of q's gamma, valid in row 0; then sin, k's gamma
constexpr uint32_t CB_ONES = 4;       // scaler of the sums
constexpr uint32_t CB_SQUARES = 5;    // in * in, summed over the d tiles
constexpr uint32_t CB_FACTOR = 6;     // column 0: 1 / rms of each token
constexpr uint32_t CB_ROTATED = 7;    // in, rotated, times gamma
constexpr uint32_t CB_COS_GAMMA = 8;  // d tiles
constexpr uint32_t CB_SIN_GAMMA = 9;  // d tiles
constexpr uint32_t CB_Q = 16;         // d tiles of q
constexpr uint32_t CB_CACHE = 17;     // d tiles of K or V, in the format of the caches
