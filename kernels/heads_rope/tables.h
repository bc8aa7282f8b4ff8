// cos, sin and the gammas to all cores: the leader reads each half of CB_TABLES once and multicasts it, one on each
// NoC. Semaphore i: the half of NoC i is here.
#pragma once

#include "../shared/multicast.h"
#include "cbs.h"

// On the leader: the half of this NoC, a table with a gamma. Rows: tile rows.
template <uint32_t rows, uint32_t d, typename TableAccessor, typename GammaAccessor>
inline void send_half(const TableAccessor& table, const GammaAccessor& gamma, const Everyone& everyone) {
    DeviceZoneScopedN("send tables");
    constexpr uint32_t tile_bytes = get_tile_size(CB_TABLES), bytes = (rows + 1) * d * tile_bytes;
    const uint32_t to = get_write_ptr(CB_TABLES) + noc_index * bytes;
    for (uint32_t i = 0; i < rows * d; ++i) noc_async_read_page(i, table, to + i * tile_bytes);
    for (uint32_t i = 0; i < d; ++i) noc_async_read_page(i, gamma, to + (rows * d + i) * tile_bytes);
    noc_async_read_barrier();
    multicast(to, bytes, everyone);
    raise_flag(get_semaphore(noc_index), everyone);
}

// Waits for both halves.
template <uint32_t rows, uint32_t d>
inline void take_tables() {
    DeviceZoneScopedN("tables");
    cb_reserve_back(CB_TABLES, 2 * (rows + 1) * d);
    for (uint32_t half = 0; half < 2; ++half) noc_semaphore_wait(words_at(get_semaphore(half)), 1);
    cb_push_back(CB_TABLES, 2 * (rows + 1) * d);
}
