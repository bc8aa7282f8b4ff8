// Circular buffers and semaphores of swiglu besides those of split_linear.h. Formats stand in the implementation's
// table.
#pragma once

#include "../shared/split_cbs.h"

constexpr uint32_t CB_H = 6;  // on every core: the norm of x1, [rows][hidden]

// Of the leader of a tile row:
constexpr uint32_t CB_ROW = 8;       // its tiles of x1
constexpr uint32_t CB_ONES = 9;      // scaler of the sum
constexpr uint32_t CB_SQUARES = 10;  // x1 * x1, summed tile on tile
constexpr uint32_t CB_FACTOR = 11;   // column 0: 1 / rms of each token

constexpr uint32_t arrived(uint32_t row) { return 2 + row; }  // semaphore: a tile row of CB_H is here
