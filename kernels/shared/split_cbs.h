// Circular buffers of a linear whose K is split over groups of cores (split_linear.h). Formats stand in the
// implementations' tables.
#pragma once

#include <cstdint>

#ifndef WEIGHTS_CB  // elsewhere in a program of several blocks
#define WEIGHTS_CB 0
#endif

constexpr uint32_t CB_WEIGHTS = WEIGHTS_CB;  // slots of weights, as they stream in

struct SplitCbs {
    uint32_t own;      // activations that this core brings, column by column
    uint32_t in;       // activations of the group, [rows][width]
    uint32_t partial;  // partial results on their way out
    uint32_t parts;    // partial results of owned columns, [owned][parts][rows]
    uint32_t x;        // residual of owned columns, column by column
    uint32_t out;      // owned columns
};

constexpr SplitCbs SPLIT{1, 2, 3, 4, 5, 16};  // of a program with one such linear
