// Circular buffers of attention. R: tile rows of queries, D: head_dim in tiles, B: tile rows of K and V in a block,
// W: workers of a head; an owner merges r x c tiles of the output. Formats stand in the implementation's table.
#pragma once

#include <cstdint>

// Where they begin, and the semaphores, in a program of several blocks.
#ifndef ATTENTION_CBS
#define ATTENTION_CBS 0
#define ATTENTION_SEMAPHORES 0
#endif

namespace attention {

constexpr uint32_t CB_Q = ATTENTION_CBS + 0;     // R D queries of a unit
constexpr uint32_t CB_K = ATTENTION_CBS + 1;     // B D: chunks of rows, each column by column
constexpr uint32_t CB_V = ATTENTION_CBS + 2;     // B D, row by row
constexpr uint32_t CB_ONES = ATTENTION_CBS + 3;  // 1, all ones
constexpr uint32_t CB_MASK =
    ATTENTION_CBS + 4;  // 1: column 0 is hugely negative where a row of the partial tile is not valid
constexpr uint32_t CB_INFO = ATTENTION_CBS + 5;     // 1: words for compute (rows.h)
constexpr uint32_t CB_VALID = ATTENTION_CBS + 6;    // 1: the context's words, from the reader to the writer
constexpr uint32_t CB_SCORES = ATTENTION_CBS + 7;   // R B
constexpr uint32_t CB_WEIGHTS = ATTENTION_CBS + 8;  // R B: exp(scale (scores - top))
constexpr uint32_t CB_TOP = ATTENTION_CBS + 9;      // R: column 0 is the row maximum that the weights are relative to
constexpr uint32_t CB_OLD_TOP =
    ATTENTION_CBS + 10;  // R: of the blocks before; also total and sums of V, where there are several
constexpr uint32_t CB_OLD_TOTAL = ATTENTION_CBS + 11;
constexpr uint32_t CB_OLD_SUM = ATTENTION_CBS + 12;
constexpr uint32_t CB_FADE = ATTENTION_CBS + 13;        // R: what the blocks before count for now
constexpr uint32_t CB_FEED = ATTENTION_CBS + 14;        // a feeder's pages on their way, in slots
constexpr uint32_t CB_TOP_OUT = ATTENTION_CBS + 16;     // R
constexpr uint32_t CB_TOTAL_OUT = ATTENTION_CBS + 17;   // R: sum of the weights of a row, in all columns
constexpr uint32_t CB_SUM_OUT = ATTENTION_CBS + 18;     // R D: weights times V
constexpr uint32_t CB_TOPS = ATTENTION_CBS + 19;        // W r: what the workers sent to this owner
constexpr uint32_t CB_TOTALS = ATTENTION_CBS + 20;      // W r
constexpr uint32_t CB_SUMS = ATTENTION_CBS + 21;        // W r c
constexpr uint32_t CB_MERGED_TOP = ATTENTION_CBS + 22;  // 1
constexpr uint32_t CB_FACTORS = ATTENTION_CBS + 23;     // r W: exp(scale (top of a worker - merged top))
constexpr uint32_t CB_INVERSE = ATTENTION_CBS + 24;     // r: 1 / total
constexpr uint32_t CB_OUT = ATTENTION_CBS + 25;         // c

}  // namespace attention
