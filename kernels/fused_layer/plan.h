// Where the blocks of the layer have their circular buffers, semaphores and compile-time args. Formats and sizes stand
// in the implementation's plan.
#pragma once

#define QKV_CBS 0  // to 17
#define QKV_ARGS 0
#define ATTENTION_CBS 18  // to 43
#define WEIGHTS_CB 44
#define NORM_CBS 45  // to 50

// Semaphores. What is over everywhere before it begins may have those of what was before; the order is at the bottom.
#define ATTENTION_SEMAPHORES 3  // to 6 + banks; qkv has 0 to 2
#define NORM_SEMAPHORES 10      // to 13

#include "../attention/roles.h"
#include "../shared/norm_leader.h"
#include "../shared/split_cbs.h"

constexpr uint32_t CB_WO_WEIGHTS = 62;            // wo, which comes while attention ends; CB_WEIGHTS has the others
constexpr uint32_t NONE = 63;                     // no circular buffer
constexpr SplitCbs WO{NONE, 51, 52, 53, 54, 55};  // o wo + x; two copies of the sum, the second is W2's residual
constexpr SplitCbs W2{57, 58, 52, 59, 56, 60};    // the product of w1 and w3 through w2, + x1
static_assert(W2.x == WO.out + 1);
// From RISCV_0 to RISCV_1, a page each time: all that attention made has left, so that the weights' memory is free; and
// between layers, the norm of x1 is over, so that wqkv's is; the layer is over.
constexpr uint32_t CB_TURN = 61;
constexpr uint32_t CB_ASKED = 46;  // back: a page when all that RISCV_1 waits for in a layer is there

// At a feeder, which has no part in the attention: cores that have asked for the last of what they read of wqkv from
// the feeder's bank, of all layers so far; cores that have their part of qkv behind them.
constexpr uint32_t BANK_FREE = attention::TOPS_ARRIVED, QKV_DONE = attention::QUERIES_ARRIVED;
// Counts on where qkv's chunks of x have counted to: feeders that have asked for the last of K and V of this core's
// bank.
constexpr uint32_t ROWS_READ = 0;
// The same of NoC 1: cores that have asked for the last weights of the bank that this core reads wqkv from.
constexpr uint32_t LAYER_READ = 1;
// No value is read before all of qkv is done, so no output of attention can come before either.
constexpr uint32_t O_ARRIVED = 2;  // qkv's SUMS_HERE: tiles of the group's columns of o
constexpr uint32_t X1_SUMMED = 15;
// x1 is whole when all attention is done.
constexpr uint32_t FILLED = 7;  // of the banks: on a leader, tiles of x1 that are there
constexpr uint32_t W2_GATHERED = 8, W2_SUMMED = 9;
// At those that multicast x: cores that are done with the layer, whose own semaphores begin anew.
constexpr uint32_t DONE = attention::SUMS_ARRIVED;
