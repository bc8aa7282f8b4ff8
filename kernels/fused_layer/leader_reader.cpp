// RISCV_1 of a leader: its tile row of x1, which the owners send; every other leader multicasts the norm from here.
//
// Args   those of leader.h
#include "leader.h"

void kernel_main() {
    for (uint32_t layer = 0; layer < layers; ++layer) {
        cb_reserve_back(CB_ROW, hidden);
        noc_semaphore_wait(words_at(get_semaphore(FILLED)), hidden);
        if (layer + 1 < layers) noc_semaphore_set(words_at(get_semaphore(FILLED)), 0);
        cb_push_back(CB_ROW, hidden);
        multicast_own(0);
        if (layer + 1 < layers) begin_anew();
    }
}
