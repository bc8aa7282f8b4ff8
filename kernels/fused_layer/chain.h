// From one layer to the next in a program of several. Every core sets its semaphores back when it is done with a layer,
// and says so to those that multicast x, who wait for all. wqkv is on its way by then.
//
// Compile-time args   layers; cores that are to be done; circular buffers to rewind, a bit each: the first 32, the rest
#pragma once

#include "../shared/dataflow.h"
#include "../shared/rewind.h"
#include "plan.h"

inline void push_turn() {
    cb_reserve_back(CB_TURN, 1);
    cb_push_back(CB_TURN, 1);
}

inline void take_turn() {
    cb_wait_front(CB_TURN, 1);
    cb_pop_front(CB_TURN, 1);
}

// On a core that multicasts x: until its half is here and all cores can take it.
inline void await_done(uint32_t cores) {
    noc_semaphore_wait(words_at(get_semaphore(DONE)), cores);
    noc_semaphore_set(words_at(get_semaphore(DONE)), 0);
}

// RISCV_0: all that others may count here in the next layer begins anew, then they may. leaders: index of the common
// arg with the first of the two places that multicast x.
template <uint32_t rows>
SMALL inline void end_layer(uint32_t leaders) {
    cb_wait_front(CB_ASKED, 1);
    cb_pop_front(CB_ASKED, 1);
    for (const uint32_t id : {ROWS_READ, LAYER_READ, O_ARRIVED, QKV_DONE, W2_GATHERED, W2_SUMMED, X1_SUMMED}) {
        noc_semaphore_set(words_at(get_semaphore(id)), 0);
    }
    for (uint32_t row = 0; row < rows; ++row) noc_semaphore_set(words_at(get_semaphore(arrived(row))), 0);
    for (uint32_t i = 0; i < 2; ++i) {
        increment(on_core(get_common_arg_val<uint32_t>(leaders + i), get_semaphore(DONE)), 1);
    }
    push_turn();
}
