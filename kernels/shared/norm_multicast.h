// The norm from its leaders to all cores.
#pragma once

#include "multicast.h"
#include "norm_leader.h"

// On a leader: multicasts a tile row of CB_H when compute has made it.
inline void multicast_norm(uint32_t row, uint32_t rows, uint32_t hidden, const Everyone& everyone) {
    const uint32_t bytes = hidden * get_tile_size(CB_H);
    cb_wait_front(CB_H, rows * hidden);
    DeviceZoneScopedN("multicast");
    multicast(get_read_ptr(CB_H) + row * bytes, bytes, everyone);
    raise_flag(get_semaphore(arrived(row)), everyone);
    cb_pop_front(CB_H, rows * hidden);
}

// On the others: waits for all rows.
inline void receive_norm(uint32_t rows, uint32_t hidden) {
    cb_reserve_back(CB_H, rows * hidden);
    for (uint32_t r = 0; r < rows; ++r) noc_semaphore_wait(words_at(get_semaphore(arrived(r))), 1);
    cb_push_back(CB_H, rows * hidden);
}
