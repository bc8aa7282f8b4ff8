// Who makes the norm that all cores work on: a leader a tile row, which multicasts it. Formats of the circular buffers
// stand in the implementations' tables.
#pragma once

#include <cstdint>

// Where its buffers and semaphores begin, in a program of several blocks.
#ifndef NORM_CBS
#define NORM_CBS 6
#define NORM_SEMAPHORES 2
#endif

constexpr uint32_t CB_H = NORM_CBS;  // on every core: the norm, [rows][hidden]

// Of a leader:
constexpr uint32_t CB_ROW = NORM_CBS + 2;      // its tile row of the input
constexpr uint32_t CB_ONES = NORM_CBS + 3;     // scaler of the sum
constexpr uint32_t CB_SQUARES = NORM_CBS + 4;  // input * input, summed tile on tile
constexpr uint32_t CB_FACTOR = NORM_CBS + 5;   // column 0: 1 / rms of each token

constexpr uint32_t arrived(uint32_t row) { return NORM_SEMAPHORES + row; }  // a tile row of CB_H is here
