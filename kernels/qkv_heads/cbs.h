// Circular buffers of qkv_heads; d is head_dim in tiles. Formats stand in the implementation's table.
#pragma once

#include <cstdint>

constexpr uint32_t CB_X = 0;          // all of x, K tile by K tile, each with its tile rows
constexpr uint32_t CB_W = 1;          // slots of the core's share of wqkv: K tiles of d columns
constexpr uint32_t CB_TABLES = 2;     // d tiles a tile row of cos, then of sin; gamma of q, of k, valid in row 0
constexpr uint32_t CB_SCALERS = 3;    // of sums: one, and epsilon * head_dim / hidden
constexpr uint32_t CB_SEND = 4;       // partial rows for other cores: d products and the squares of x
constexpr uint32_t CB_OWN = 5;        // the own rows alike, in the end complete
constexpr uint32_t CB_RECEIVED = 6;   // partial rows from other cores
constexpr uint32_t CB_COS_GAMMA = 7;  // d tiles an own row
constexpr uint32_t CB_SIN_GAMMA = 8;
constexpr uint32_t CB_SQUARES = 9;   // z * z, summed over the d tiles
constexpr uint32_t CB_FACTOR = 10;   // column 0: what each token is multiplied with
constexpr uint32_t CB_ROTATED = 11;  // z, rotated, times gamma
constexpr uint32_t CB_Q = 16;        // d tiles of q
constexpr uint32_t CB_CACHE = 17;    // d tiles of K or V, in the format of the caches
