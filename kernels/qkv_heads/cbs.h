// Circular buffers of qkv_heads. Formats and sizes stand in the implementation's table.
#pragma once

#include <cstdint>

constexpr uint32_t CB_X = 0;          // all of x, K tile by K tile, each with its tile rows
constexpr uint32_t CB_W = 1;          // slots of the core's columns of wqkv
constexpr uint32_t CB_TABLES = 2;     // d tiles a tile row of cos, then of sin; gamma of q, of k, valid in row 0
constexpr uint32_t CB_SCALERS = 3;    // of sums: see SCALERS
constexpr uint32_t CB_Z = 4;          // the product of the core's columns, n tiles a tile row
constexpr uint32_t CB_X_SQUARES = 5;  // x * x, summed over the core's K tiles, a tile a tile row
constexpr uint32_t CB_COS_GAMMA = 6;  // n tiles a tile row
constexpr uint32_t CB_SIN_GAMMA = 7;
constexpr uint32_t CB_SQUARES = 8;    // z * z, summed over the n tiles
constexpr uint32_t CB_SUMS = 9;       // column 0: the core's share of a token's sum of squares
constexpr uint32_t CB_SEND = 10;      // the same, for the other core of the head
constexpr uint32_t CB_RECEIVED = 11;  // that core's
constexpr uint32_t CB_FACTOR = 12;    // column 0: what each token is multiplied with
constexpr uint32_t CB_ROTATED = 13;   // z, rotated, times gamma
constexpr uint32_t CB_Q = 16;         // n tiles a tile row of q
constexpr uint32_t CB_CACHE = 17;     // of K or V, in the format of the caches

// Squares of a head are summed to their mean. Those of x, for queries and keys, to epsilon times their mean; for values
// they are divided afterwards: 1 / hidden is no bf16.
enum { MEAN_OF_HEAD, EPSILON_TIMES_MEAN_OF_X, SUM_OF_X, SCALERS };
