// Circular buffers of qkv_heads. Formats and sizes stand in the implementation's table.
#pragma once

#include <cstdint>

// Where they begin, and the compile-time args, in a program of several blocks.
#ifndef QKV_CBS
#define QKV_CBS 0
#define QKV_ARGS 0
#endif

namespace qkv {

constexpr uint32_t CB_X = QKV_CBS + 0;  // all of x, K tile by K tile, each with its tile rows
constexpr uint32_t CB_W = QKV_CBS + 1;  // slots of the core's columns of wqkv
constexpr uint32_t CB_TABLES =
    QKV_CBS + 2;  // d tiles a tile row of cos, then of sin; gamma of q, of k, valid in row 0; SCALERS
constexpr uint32_t CB_PARTIAL = QKV_CBS + 4;  // products on their way to z
constexpr uint32_t CB_Z = QKV_CBS + 5;        // the product of the core's columns, n tiles a tile row
constexpr uint32_t CB_X_SQUARES =
    QKV_CBS + 6;  // a tile row's share of mean x^2 + epsilon, not yet summed along the row
constexpr uint32_t CB_COS_GAMMA = QKV_CBS + 7;  // n tiles a tile row
constexpr uint32_t CB_SIN_GAMMA = QKV_CBS + 8;
constexpr uint32_t CB_SQUARES = QKV_CBS + 9;    // z * z, summed over the n tiles
constexpr uint32_t CB_SUMS = QKV_CBS + 10;      // all columns: the core's share of what the factor is made of
constexpr uint32_t CB_SEND = QKV_CBS + 11;      // the same, for the other core of the head
constexpr uint32_t CB_RECEIVED = QKV_CBS + 12;  // that core's
constexpr uint32_t CB_FACTOR = QKV_CBS + 13;    // all columns: what each token is multiplied with
constexpr uint32_t CB_ROTATED = QKV_CBS + 14;   // z, rotated, times gamma
constexpr uint32_t CB_Q = QKV_CBS + 16;         // n tiles a tile row of q
constexpr uint32_t CB_CACHE = QKV_CBS + 17;     // of K or V, in the format of the caches

// Scalers of sums, tiles of one value: squares of a head are summed to their mean; mean x^2 + epsilon counts epsilon
// times in it, and once for values.
enum { MEAN_OF_HEAD, EPSILON, ONE, SCALERS };

}  // namespace qkv
