// RISCV_0 of a leader: the scaler of its sum; the others multicast the norm from here.
//
// Args   those of leader.h
#include "leader.h"

void kernel_main() {
    push_ones(CB_ONES);
    for (uint32_t layer = 0; layer < layers; ++layer) {
        multicast_own(1);
        if (layer + 1 < layers) begin_anew();
    }
}
