// Who makes the norm that all cores work on: a leader a tile row, which multicasts it. Formats of the circular buffers
// stand in the implementations' tables.
#pragma once

#include <cstdint>

constexpr uint32_t CB_H = 6;  // on every core: the norm, [rows][hidden]

// Of a leader:
constexpr uint32_t CB_ROW = 8;       // its tile row of the input
constexpr uint32_t CB_ONES = 9;      // scaler of the sum
constexpr uint32_t CB_SQUARES = 10;  // input * input, summed tile on tile
constexpr uint32_t CB_FACTOR = 11;   // column 0: 1 / rms of each token

constexpr uint32_t arrived(uint32_t row) { return 2 + row; }  // semaphore: a tile row of CB_H is here
