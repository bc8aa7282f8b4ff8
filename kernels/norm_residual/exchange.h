// The exchange of norm_residual: every core of a tile row sends its sums of squares, one fp32 a token, to the leader;
// the leader's compute kernel makes 1 / rms of them, and that comes back by multicast.
#pragma once

#include "../shared/dataflow.h"
#include "cbs.h"

// The cores of a tile row: a rectangle that starts with the leader. Cores past `cores` have no tiles; they exist for
// the multicast, which reaches the whole rectangle.
struct Group {
    uint32_t slot;   // of this core; 0 is the leader
    uint32_t cores;  // that have tiles
    uint32_t area;   // cores of the rectangle
    uint32_t x0, y0, x1, y1;
    uint32_t arrived, ready;  // semaphores: sums at the leader, 1 / rms at a core

    bool leads() const { return slot == 0; }
    uint64_t everywhere(uint32_t address) const { return get_noc_multicast_addr(x0, y0, x1, y1, address); }
};

// From the runtime args slot, x0, y0, x1, y1, which start at `arg`.
inline Group group_from_args(uint32_t arg, uint32_t cores, uint32_t area) {
    Group group;
    group.slot = get_arg_val<uint32_t>(arg);
    group.cores = cores;
    group.area = area;
    group.x0 = get_arg_val<uint32_t>(arg + 1);
    group.y0 = get_arg_val<uint32_t>(arg + 2);
    group.x1 = get_arg_val<uint32_t>(arg + 3);
    group.y1 = get_arg_val<uint32_t>(arg + 4);
    group.arrived = get_semaphore(0);
    group.ready = get_semaphore(1);
    return group;
}

constexpr uint32_t ROWS = 32, FACE_ROW_BYTES = 64, FP32_TILE_BYTES = 4096;

// Word of an element in an fp32 tile: four faces of 16 x 16.
constexpr uint32_t word(uint32_t row, uint32_t column) {
    return (row / 16 * 2 + column / 16) * 256 + row % 16 * 16 + column % 16;
}
// Row 0 of a tile lies in two pieces; a block of these bytes holds both.
constexpr uint32_t FIRST_ROW_BYTES = 4 * word(0, 16) + FACE_ROW_BYTES;

// The own sums become row `slot` of the gather tiles, first here, then at the same address of the leader.
inline void send_sums(const Group& group) {
    const uint32_t tile_address = get_write_ptr(CB_GATHER) + group.slot / ROWS * FP32_TILE_BYTES;
    const uint32_t row = group.slot % ROWS;
    volatile tt_l1_ptr uint32_t* tile = words_at(tile_address);
    cb_wait_front(CB_PARTIAL, 1);
    invalidate_l1_cache();
    volatile tt_l1_ptr uint32_t* sums = words_at(get_read_ptr(CB_PARTIAL));
    for (uint32_t token = 0; token < ROWS; ++token) tile[word(row, token)] = sums[word(token, 0)];
    cb_pop_front(CB_PARTIAL, 1);
    if (group.leads()) return;
    for (uint32_t column = 0; column < ROWS; column += 16) {
        const uint32_t piece = tile_address + 4 * word(row, column);
        noc_async_write(piece, get_noc_addr(group.x0, group.y0, piece), FACE_ROW_BYTES);
    }
    noc_async_write_barrier();
    noc_semaphore_inc(get_noc_addr(group.x0, group.y0, group.arrived), 1);
    noc_async_atomic_barrier();
}

// On the leader: rows of the gather tiles that no core fills.
inline void clear_unused_rows(const Group& group, uint32_t tiles) {
    for (uint32_t slot = group.cores; slot < tiles * ROWS; ++slot) {
        volatile tt_l1_ptr uint32_t* tile = words_at(get_write_ptr(CB_GATHER) + slot / ROWS * FP32_TILE_BYTES);
        for (uint32_t token = 0; token < ROWS; ++token) tile[word(slot % ROWS, token)] = 0;
    }
}

// On the leader: waits for all sums, hands them to compute, and multicasts what compute makes of them.
// Semaphores end as they began, for the next launch.
inline void lead(const Group& group, uint32_t tiles) {
    volatile tt_l1_ptr uint32_t* arrived = words_at(group.arrived);
    volatile tt_l1_ptr uint32_t* ready = words_at(group.ready);
    noc_semaphore_wait(arrived, group.cores - 1);
    noc_semaphore_set(arrived, 0);
    cb_push_back(CB_GATHER, tiles);
    cb_wait_front(CB_TOTAL, 1);
    if (group.area == 1) return;
    const uint32_t total = get_read_ptr(CB_TOTAL);
    noc_semaphore_set(ready, 1);
    noc_async_write_multicast(total, group.everywhere(total), FIRST_ROW_BYTES, group.area - 1);
    noc_async_writes_flushed();  // Blackhole may let the flag overtake the payload otherwise
    noc_semaphore_set_multicast(group.ready, group.everywhere(group.ready), group.area - 1);
    noc_async_write_barrier();
    noc_semaphore_set(ready, 0);
}

// On the other cores: waits for the multicast.
inline void follow(const Group& group) {
    volatile tt_l1_ptr uint32_t* ready = words_at(group.ready);
    noc_semaphore_wait(ready, 1);
    noc_semaphore_set(ready, 0);
}

// The unpacker reads the two faces that hold column 0 whole. Done while compute makes the sums.
inline void clear_factor() {
    cb_reserve_back(CB_FACTOR, 1);
    volatile tt_l1_ptr uint32_t* factor = words_at(get_write_ptr(CB_FACTOR));
    for (uint32_t token = 0; token < ROWS; ++token) {
        for (uint32_t column = 0; column < 16; ++column) factor[word(token, column)] = 0;
    }
}

// 1 / rms of each token: row 0 of the tile at `total_address` becomes column 0 of the cleared factor tile.
inline void push_factor(uint32_t total_address) {
    invalidate_l1_cache();
    volatile tt_l1_ptr uint32_t* total = words_at(total_address);
    volatile tt_l1_ptr uint32_t* factor = words_at(get_write_ptr(CB_FACTOR));
    for (uint32_t token = 0; token < ROWS; ++token) factor[word(token, 0)] = total[word(0, token)];
    cb_push_back(CB_FACTOR, 1);
}
