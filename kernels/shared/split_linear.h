// The data movement of a linear whose K is split over groups of cores, a DRAM bank each, and whose N is split over the
// cores of a group: activations go round in the group, partial results to the core that owns their column.
#pragma once

#include "dataflow.h"
#include "once.h"
#include "split_cbs.h"

// Runtime args, from `args` on; then `peers` coordinates of the cores of the group, this one among them, then for
// each column that this core multiplies its owner: x | y << 8 | place among the owner's columns << 16.
enum SplitArg { GROUP, WIDTH, FIRST_OWN, OWN, GROUP_COLUMN, OWNED, FIRST_OWNED, PEERS, COLUMNS, SPLIT_ARGS };

// gathered, summed: addresses of its semaphores, which count columns of activations here, partial results of owned
// columns here.
struct Split {
    uint32_t args;  // index of the first
    SplitCbs cbs;
    uint32_t gathered, summed;

    explicit Split(uint32_t first_arg, const SplitCbs& buffers = SPLIT, uint32_t gathered_id = 0,
                   uint32_t summed_id = 1)
        : args(first_arg), cbs(buffers), gathered(get_semaphore(gathered_id)), summed(get_semaphore(summed_id)) {}

    uint32_t get(SplitArg arg) const { return get_arg_val<uint32_t>(args + arg); }
    uint32_t peer(uint32_t i) const { return get_arg_val<uint32_t>(args + SPLIT_ARGS + i); }
    uint32_t owner(uint32_t column) const { return peer(get(PEERS) + column); }
    uint32_t end() const { return args + SPLIT_ARGS + get(PEERS) + get(COLUMNS); }
};

inline uint64_t address_at(uint32_t core, uint32_t address) {
    return get_noc_addr(core & 0xFF, core >> 8 & 0xFF, address);
}

// Own columns of activations, as they appear in `own`, to every core of the group; then waits for all of the group's.
template <uint32_t rows>
inline void gather(const Split& split) {
    DeviceZoneScopedN("gather");
    const uint32_t tile = get_tile_size(split.cbs.in), width = split.get(WIDTH), peers = split.get(PEERS);
    const uint32_t in = get_write_ptr(split.cbs.in);
    cb_reserve_back(split.cbs.in, rows * width);
    for (uint32_t column = 0; column < split.get(OWN); ++column) {
        cb_wait_front(split.cbs.own, rows);
        const uint32_t from = get_read_ptr(split.cbs.own), to = in + (split.get(FIRST_OWN) + column) * tile;
        for (uint32_t i = 0; i < peers; ++i) {
            for (uint32_t r = 0; r < rows; ++r) {
                send(from + r * tile, address_at(split.peer(i), to + r * width * tile), tile);
            }
        }
        noc_async_writes_flushed();
        for (uint32_t i = 0; i < peers; ++i) increment(address_at(split.peer(i), split.gathered), 1);
        cb_pop_front(split.cbs.own, rows);
    }
    noc_semaphore_wait(words_at(split.gathered), width);
    cb_push_back(split.cbs.in, rows * width);
}

// Partial results, as they appear in `partial` in units of `columns`, to their owners; then waits for those of the own
// columns. `groups` send some; the room for them is for `parts`, groups made even, and the odd one is zero.
template <uint32_t rows, uint32_t columns, uint32_t groups, uint32_t parts>
ONCE void scatter(const Split& split) {
    DeviceZoneScopedN("scatter");
    const uint32_t bytes = rows * get_tile_size(split.cbs.partial), owned = split.get(OWNED);
    const uint32_t to = get_write_ptr(split.cbs.parts);
    if constexpr (parts > groups) {
        for (uint32_t column = 0; column < owned; ++column) {
            volatile tt_l1_ptr uint32_t* zeros = words_at(to + (column * parts + groups) * bytes);
            for (uint32_t i = 0; i < bytes / 4; ++i) zeros[i] = 0;
        }
    }
    for (uint32_t unit = 0; unit < split.get(COLUMNS); unit += columns) {
        cb_wait_front(split.cbs.partial, rows * columns);
        for (uint32_t i = 0; i < columns; ++i) {
            const uint32_t owner = split.owner(unit + i), place = (owner >> 16) * parts + split.get(GROUP);
            send(get_read_ptr(split.cbs.partial) + i * bytes, address_at(owner, to + place * bytes), bytes);
        }
        noc_async_writes_flushed();
        for (uint32_t i = 0; i < columns; ++i) increment(address_at(split.owner(unit + i), split.summed), 1);
        cb_pop_front(split.cbs.partial, rows * columns);
    }
    if (owned == 0) return;
    cb_reserve_back(split.cbs.parts, owned * parts * rows);
    noc_semaphore_wait(words_at(split.summed), owned * groups);
    cb_push_back(split.cbs.parts, owned * parts * rows);
}

// Starts reading `n` columns of `rows` tiles into the back of a circular buffer, column by column.
template <uint32_t rows, typename Accessor>
inline void start_reading_columns(const Accessor& tensor, uint32_t width, uint32_t first, uint32_t n, uint32_t cb) {
    if (n == 0) return;
    cb_reserve_back(cb, n * rows);
    uint32_t to = get_write_ptr(cb);
    for (uint32_t column = first; column < first + n; ++column) {
        for (uint32_t r = 0; r < rows; ++r, to += get_tile_size(cb)) {
            noc_async_read_page(r * width + column, tensor, to);
        }
    }
}

// Reads the own columns of activations, and the owned columns of the residual.
template <uint32_t rows, typename In, typename Residual>
inline void read_own_and_owned(const Split& split, const In& in, uint32_t in_width, const Residual& x, uint32_t width) {
    const uint32_t own = split.get(OWN), owned = split.get(OWNED);
    start_reading_columns<rows>(in, in_width, split.get(GROUP_COLUMN) + split.get(FIRST_OWN), own, split.cbs.own);
    start_reading_columns<rows>(x, width, split.get(FIRST_OWNED), owned, split.cbs.x);
    noc_async_read_barrier();
    cb_push_back(split.cbs.own, own * rows);
    cb_push_back(split.cbs.x, owned * rows);
}

// The owned columns from `out` to the output, `width` tiles wide; then everything this core has sent has arrived.
template <uint32_t rows, typename Accessor>
inline void write_owned(const Split& split, const Accessor& out, uint32_t width) {
    DeviceZoneScopedN("write");
    const uint32_t owned = split.get(OWNED), first = split.get(FIRST_OWNED);
    cb_wait_front(split.cbs.out, owned * rows);
    uint32_t from = get_read_ptr(split.cbs.out);
    for (uint32_t column = first; column < first + owned; ++column) {
        for (uint32_t r = 0; r < rows; ++r, from += get_tile_size(split.cbs.out)) {
            noc_async_write_page(r * width + column, out, from);
        }
    }
    noc_async_write_barrier();
    noc_async_atomic_barrier();
    cb_pop_front(split.cbs.out, owned * rows);
}
