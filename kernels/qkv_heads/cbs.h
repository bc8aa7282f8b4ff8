// Circular buffers of qkv_heads. Formats and sizes stand in the implementation's table.
#pragma once

#include <cstdint>

constexpr uint32_t CB_X = 0;        // all of x, K tile by K tile, each with its tile rows
constexpr uint32_t CB_W = 1;        // slots of the core's columns of wqkv
constexpr uint32_t CB_TABLES = 2;   // d tiles a tile row of cos, then of sin; gamma of q, of k, valid in row 0; SCALERS
constexpr uint32_t CB_PARTIAL = 4;  // products on their way to z
constexpr uint32_t CB_Z = 5;        // the product of the core's columns, n tiles a tile row
constexpr uint32_t CB_X_SQUARES = 6;  // a tile row's share of mean x^2 + epsilon, not yet summed along the row
constexpr uint32_t CB_COS_GAMMA = 7;  // n tiles a tile row
constexpr uint32_t CB_SIN_GAMMA = 8;
constexpr uint32_t CB_SQUARES = 9;    // z * z, summed over the n tiles
constexpr uint32_t CB_SUMS = 10;      // column 0: the core's share of what the factor is made of
constexpr uint32_t CB_SEND = 11;      // the same, for the other core of the head
constexpr uint32_t CB_RECEIVED = 12;  // that core's
constexpr uint32_t CB_FACTOR = 13;    // column 0: what each token is multiplied with
constexpr uint32_t CB_ROTATED = 14;   // z, rotated, times gamma
constexpr uint32_t CB_Q = 16;         // n tiles a tile row of q
constexpr uint32_t CB_CACHE = 17;     // of K or V, in the format of the caches

// Scalers of sums: squares of a head are summed to their mean; mean x^2 + epsilon counts epsilon times in it, and once
// for values.
enum { MEAN_OF_HEAD, EPSILON, ONE, SCALERS };
