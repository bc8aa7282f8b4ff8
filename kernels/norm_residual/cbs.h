// Circular buffers of norm_residual; n is the number of tiles of a core. Formats stand in the implementation's table.
#pragma once

#include <cstdint>

constexpr uint32_t CB_X = 0;          // n tiles of x
constexpr uint32_t CB_O = 1;          // n tiles of o
constexpr uint32_t CB_GAMMA = 2;      // n tiles of gamma, valid in row 0
constexpr uint32_t CB_ONES = 3;       // scaler of the sums
constexpr uint32_t CB_X1 = 4;         // x + o, for the norm; without a residual the reader fills it with x
constexpr uint32_t CB_X1_OUT = 5;     // x + o, for the writer
constexpr uint32_t CB_SQUARES = 6;    // x1 * x1
constexpr uint32_t CB_PARTIAL = 7;    // column 0: a core's sum of squares for each token
constexpr uint32_t CB_GATHER = 8;     // row k: the sums of core k of the tile row; filled on its leader
constexpr uint32_t CB_TOTAL = 9;      // row 0: 1 / rms of each token; packed on the leader, multicast to the others
constexpr uint32_t CB_FACTOR = 10;    // column 0: 1 / rms of each token
constexpr uint32_t CB_WEIGHTED = 11;  // x1 * gamma
constexpr uint32_t CB_OUT = 16;       // x1 * gamma / rms
