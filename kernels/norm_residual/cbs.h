// Circular buffers of norm_residual; n is the number of tiles of a core. Formats stand in the implementation's table.
#pragma once

#include <cstdint>

constexpr uint32_t CB_X = 0;          // n tiles of x
constexpr uint32_t CB_O = 1;          // n tiles of o
constexpr uint32_t CB_GAMMA = 2;      // n tiles: gamma in row 0, ones in rows 1 to 15, zeros below
constexpr uint32_t CB_X1 = 4;         // x + o, for the norm; without a residual the reader fills it with x
constexpr uint32_t CB_X1_OUT = 5;     // x + o, for the writer
constexpr uint32_t CB_SQUARES = 6;    // x1 * x1, summed over the n tiles
constexpr uint32_t CB_PARTIAL = 7;    // row 1: a core's sum of squares for each token
constexpr uint32_t CB_GATHER = 8;     // row k: the sums of core k of the tile row; filled on its leader
constexpr uint32_t CB_TOTAL = 9;      // column 0: 1 / rms of each token; packed on the leader, multicast to CB_FACTOR
constexpr uint32_t CB_FACTOR = 10;    // the same
constexpr uint32_t CB_WEIGHTED = 11;  // x1 * gamma
constexpr uint32_t CB_OUT = 16;       // x1 * gamma / rms
