// From the owners of a linear's output columns to the leaders that norm them.
#pragma once

#include "norm_leader.h"
#include "split_linear.h"

// Owned columns, as compute makes them, to the leaders of their rows, whose coordinates are runtime args from `leaders`
// on. filled: semaphore of a leader, counts the tiles that are there.
template <uint32_t rows>
inline void send_to_leaders(const Split& split, uint32_t filled, uint32_t leaders) {
    const uint32_t tile = get_tile_size(CB_ROW), owned = split.get(OWNED);
    if (owned == 0) return;
    cb_wait_front(split.cbs.out, owned * rows);
    uint32_t from = get_read_ptr(split.cbs.out);
    for (uint32_t column = split.get(FIRST_OWNED); column < split.get(FIRST_OWNED) + owned; ++column) {
        for (uint32_t r = 0; r < rows; ++r, from += tile) {
            const uint32_t leader = get_arg_val<uint32_t>(leaders + r);
            send(from, address_at(leader, get_write_ptr(CB_ROW) + column * tile), tile);
        }
    }
    noc_async_writes_flushed();
    for (uint32_t r = 0; r < rows; ++r) {
        increment(address_at(get_arg_val<uint32_t>(leaders + r), filled), owned);
    }
    cb_pop_front(split.cbs.out, owned * rows);
}
