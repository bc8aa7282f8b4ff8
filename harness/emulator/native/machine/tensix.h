// A core's compute engine: source registers handed from unpack to math, DEST handed from math to pack.
#pragma once

#include <deque>

#include "../tile/sfpu.h"
#include "machine.h"

namespace lb {

// What one unpack call puts into SrcA and SrcB: a tile each, or the tiles of a matmul block.
struct Sources {
    Config config;
    Block block;
    std::vector<tile::SrcTile> a, b;
    tile::DestTile direct;  // an unpack to DEST
    bool to_dest = false;
    std::string formats;
    uint64_t filled_at = 0;
};

struct Init {
    Config config;
    Block block;
    uintptr_t pc = 0;
};

// A word that unpack sends to another of the core's compute threads.
struct Mail {
    uint32_t value;
    uint64_t sent_at;
};

struct Tensix {
    static constexpr int kBanks = 2;      // of SrcA and SrcB
    static constexpr int kMailboxes = 2;  // unpack to math, unpack to pack
    static constexpr size_t kMailboxWords = 4;
    static constexpr int kMaxTiles = 16;

    // Set by the program.
    tile::DestWidth width = tile::DestWidth::Bits16;
    bool full_sync = false, precise = false;
    uint64_t unpack_to_dest = 0;  // bit a circular buffer

    // Unpack.
    uint8_t source_format[2] = {255, 255};
    Init unpack_init;
    std::deque<std::unique_ptr<Sources>> filled;
    std::vector<std::unique_ptr<Sources>> spare;
    VectorClock sources_filled, sources_freed;
    uint64_t fills = 0, frees = 0, freed_at[kBanks] = {};

    // From unpack to math and pack.
    std::deque<Mail> mailboxes[kMailboxes];
    VectorClock mail_sent, mail_read;

    // Math.
    Init math_init;
    Sfpu sfpu_init = Sfpu::None;
    bool sfpu_approx = false;
    uintptr_t sfpu_pc = 0;
    bool math_started = false, math_owns = false;
    int math_section = 0;

    // DEST.
    tile::DestTile dest[2][kMaxTiles];
    bool reduced[2][kMaxTiles] = {};
    int committed = 0;  // sections between math and pack
    VectorClock dest_committed, dest_released;
    uint64_t committed_at[2] = {}, released_at[2] = {};

    // Pack.
    uint8_t pack_format = 255;
    bool pack_owns = false, accumulate = false;
    uint8_t mask = 0;
    uintptr_t mask_pc = 0;
    int pack_section = 0;

    Tensix();
    int sections() const { return full_sync ? 1 : 2; }
    uint32_t capacity() const { return (width == tile::DestWidth::Bits32 ? 8u : 16u) / unsigned(sections()); }
    bool satisfied(const Wait& w) const;
};

const char* format_name(uint8_t format);
std::string op_name(const Config& config);
const char* op_name(Sfpu op);
// The tile of a circular buffer that a compute thread works on: device address; faults when it is not there to use.
uint32_t tile_address(Thread& t, uint32_t cb, uint32_t tile, bool write);
void count_tile(Thread& t, const std::string& what);

}  // namespace lb
