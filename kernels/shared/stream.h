// A core's share of a weight, read ahead of the compute kernel.
#pragma once

#include "api/dataflow/dataflow_api.h"
#include "once.h"

// Reads tiles that lie one after another in one DRAM bank into a circular buffer, a slot of it at a time. Up to `depth`
// reads are in flight; it waits for nothing but room, so weights that fit the buffer come whatever else the core waits
// for.
//
// A slot is so many pages of the buffer, at most 16 KB (a packet). It is pushed whole even where it holds fewer tiles:
// so no slot wraps in its middle. `slots` is the buffer's capacity, at least depth + 1.
class Stream {
  public:
    static constexpr uint32_t depth = 2;

    Stream(uint32_t cb, uint32_t slot_tiles, uint32_t slots)
        : base_(get_write_ptr(cb)), cb_(cb), tile_(get_tile_size(cb)), slot_(slot_tiles), slots_(slots) {}

    Stream(uint32_t bank, uint32_t address, uint32_t cb, uint32_t slot_tiles, uint32_t slots)
        : Stream(cb, slot_tiles, slots) {
        start(bank, address);
    }

    // Where the next share begins.
    void start(uint32_t bank, uint32_t address) { from_ = get_noc_addr_from_bank_id<true>(bank, address); }

    // The next tiles of the share into the next slot.
    ONCE void read(uint32_t tiles) {
        if (issued_ - landed_ == depth) land();
        cb_reserve_back(cb_, (issued_ - landed_ + 1) * slot_);
        noc_async_read_set_trid(trid(issued_));
        noc_async_read(from_, base_ + next_ * slot_ * tile_, tiles * tile_);
        from_ += tiles * tile_;
        next_ = next_ + 1 == slots_ ? 0 : next_ + 1;
        ++issued_;
    }

    // A weight of `height` tile rows and `columns` columns, row by row, in blocks of `block` rows: a slot each.
    void read_blocks(uint32_t height, uint32_t columns, uint32_t block) {
        for (uint32_t k = 0; k < height; k += block) read((height - k < block ? height - k : block) * columns);
    }

    // Waits for what is still in flight.
    ONCE void finish() {
        while (landed_ != issued_) land();
        noc_async_read_set_trid(0);
    }

  private:
    static uint32_t trid(uint32_t read) { return 1 + read % depth; }

    void land() {
        noc_async_read_barrier_with_trid(trid(landed_++));
        cb_push_back(cb_, slot_);
    }

    uint64_t from_ = 0;
    uint32_t base_, cb_, tile_, slot_, slots_;
    uint32_t next_ = 0, issued_ = 0, landed_ = 0;
};
