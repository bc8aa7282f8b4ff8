// Circular buffers of a linear whose K is split over groups of cores (split_linear.h). Formats stand in the
// implementations' tables.
#pragma once

#include <cstdint>

constexpr uint32_t CB_WEIGHTS = 0;  // slots of weights, as they stream in
constexpr uint32_t CB_OWN = 1;      // activations that this core brings, column by column
constexpr uint32_t CB_IN = 2;       // activations of the group, [rows][width]
constexpr uint32_t CB_PARTIAL = 3;  // partial results on their way out
constexpr uint32_t CB_PARTS = 4;    // partial results of owned columns, [owned][parts][rows]
constexpr uint32_t CB_X = 5;        // residual of owned columns, column by column
constexpr uint32_t CB_OUT = 16;     // owned columns
