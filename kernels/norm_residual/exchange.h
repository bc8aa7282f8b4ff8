// The exchange of norm_residual: every core of a tile row sends its sums of squares, one fp32 a token, to the leader;
// the leader's compute kernel makes 1 / rms of them, and that comes back by multicast.
#pragma once

#include "../shared/multicast.h"
#include "cbs.h"

// The cores of a tile row: a rectangle that starts with the leader. Cores past `cores` have no tiles; they exist for
// the multicast, which reaches the whole rectangle.
struct Group {
    uint32_t slot;   // of this core; 0 is the leader
    uint32_t cores;  // that have tiles
    Everyone everyone;
    uint32_t arrived, ready;  // semaphores: sums at the leader, 1 / rms at a core

    bool leads() const { return slot == 0; }
    uint64_t leader(uint32_t address) const { return get_noc_addr(everyone.x0, everyone.y0, address); }
};

// From the runtime args slot, then the rectangle, which start at `arg`.
inline Group group_from_args(uint32_t arg, uint32_t cores) {
    Group group;
    group.slot = get_arg_val<uint32_t>(arg);
    group.cores = cores;
    group.everyone = everyone_from_args(arg + 1);
    group.arrived = get_semaphore(0);
    group.ready = get_semaphore(1);
    return group;
}

constexpr uint32_t FACE = 16, ROW_BYTES = 4 * FACE;  // of an fp32 tile: four faces of 16 x 16

// Offset of a row in the left face or the right; rows of a face lie one after another.
constexpr uint32_t row_at(uint32_t row, bool right) {
    return (row / FACE * 2 + right) * FACE * ROW_BYTES + row % FACE * ROW_BYTES;
}

// On the leader: rows of CB_GATHER that no core fills, from a page whose lower half is zeros. The caller waits.
template <typename Accessor>
inline void start_clearing(const Accessor& tensor, uint32_t page, uint32_t first_row) {
    const uint64_t zeros = tensor.get_noc_addr(page, get_tile_size(CB_GAMMA) / 2);
    const uint32_t tile = get_write_ptr(CB_GATHER);
    for (uint32_t row = first_row; row < 2 * FACE; row = (row / FACE + 1) * FACE) {
        const uint32_t bytes = (FACE - row % FACE) * ROW_BYTES;
        for (bool right : {false, true}) noc_async_read(zeros, tile + row_at(row, right), bytes);
    }
}

// The own sums become row `slot` of the leader's CB_GATHER.
inline void send_sums(const Group& group) {
    cb_wait_front(CB_PARTIAL, 1);
    const uint32_t from = get_read_ptr(CB_PARTIAL), to = get_write_ptr(CB_GATHER);
    for (bool right : {false, true}) {
        noc_async_write(from + row_at(1, right), group.leader(to + row_at(group.slot, right)), ROW_BYTES);
    }
    noc_async_writes_flushed();
    noc_semaphore_inc(group.leader(group.arrived), 1);
    cb_pop_front(CB_PARTIAL, 1);
}

// On the leader: waits for all sums, hands them to compute, and multicasts what compute makes of them: the two faces
// with column 0, linked with their flag, so that the path is taken once. Semaphores end as they began, for the next
// launch.
inline void lead(const Group& group) {
    volatile tt_l1_ptr uint32_t* arrived = words_at(group.arrived);
    noc_semaphore_wait(arrived, group.cores);
    noc_semaphore_set(arrived, 0);
    cb_push_back(CB_GATHER, 1);
    cb_wait_front(CB_TOTAL, 1);
    if (group.everyone.others > 0) {
        const uint32_t from = get_read_ptr(CB_TOTAL), to = get_write_ptr(CB_FACTOR);
        for (uint32_t row = 0; row < 2 * FACE; row += FACE) {
            noc_async_write_multicast(from + row_at(row, false), group.everyone.at(to + row_at(row, false)),
                                      FACE * ROW_BYTES, group.everyone.others, true);
        }
        raise_flag(group.ready, group.everyone);
        noc_semaphore_set(words_at(group.ready), 0);
    }
    cb_pop_front(CB_TOTAL, 1);
}

// On the other cores: waits for the multicast.
inline void follow(const Group& group) {
    volatile tt_l1_ptr uint32_t* ready = words_at(group.ready);
    noc_semaphore_wait(ready, 1);
    noc_semaphore_set(ready, 0);
}
