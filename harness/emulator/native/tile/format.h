// Data formats of circular buffers, and the two ends of the data path: unpack (L1 -> SrcA/SrcB or DEST) and
// pack (DEST -> L1), as a Blackhole Tensix core does them.
//
// A tile is 32x32 datums in four 16x16 faces (top left, top right, bottom left, bottom right), each row by row:
// datum (r, c) lies at index (r/16*2 + c/16)*256 + r%16*16 + c%16. Every tile here uses that face order.
//
//   SrcTile   what SrcA or SrcB holds: 1024 fp32 bit patterns with 19 (Tf32) or 16 (all else) significant high bits.
//   DestTile  what one tile slot of DEST holds: 1024 32-bit words. 32-bit DEST: the fp32 pattern or the integer as in
//             L1. 16-bit DEST: a bf16 pattern in the high half and zero below; a UInt16 is kept as the hardware lays it
//             out there (raw16 and from_raw16 convert). Rows of a cleared slot are zero and unmarked in `written`: to
//             a max pool they read as minus infinity, to everything else as zero.
//
// All functions are pure: no state, no threads, no allocation.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lb::tile {

constexpr int kTileDatums = 1024, kFaceDatums = 256, kFaceDim = 16;

// Numbered as tt-metal's DataFormat. Tf32 exists in registers only.
enum class Format : uint8_t {
    Float32 = 0,
    Tf32 = 4,
    Float16_b = 5,
    Bfp8_b = 6,
    Bfp4_b = 7,
    Int32 = 8,
    UInt16 = 9,
    UInt32 = 24
};

// Bytes of one 32x32 tile in L1 or DRAM; 0 for a format that memory cannot hold (Tf32).
size_t tile_bytes(Format format);

enum class DestWidth : uint8_t { Bits16, Bits32 };  // Bits32 is fp32_dest_acc_en

struct alignas(64) SrcTile {
    uint32_t word[kTileDatums];
    Format format;  // Tf32, or the format of the circular buffer
};

struct alignas(64) DestTile {
    uint32_t word[kTileDatums];
    uint64_t written;  // bit r: row r (face r/16) has been written since the slot was cleared
};

void clear(DestTile& dest);

// The 16 bits that 16-bit DEST holds for a word, and back: sign, 7 fraction bits, 8 exponent bits. Of uint32_t or of a
// vector of them.
template <class Word>
__attribute__((always_inline)) constexpr Word raw16(Word word) {
    return (word >> 16 & 0x8000) | (word >> 8 & 0x7F00) | (word >> 23 & 0xFF);
}
template <class Word>
__attribute__((always_inline)) constexpr Word from_raw16(Word raw) {
    return (raw & 0x8000) << 16 | (raw & 0xFF) << 23 | (raw & 0x7F00) << 8;
}

// The register format the compiler of kernels chooses for a circular buffer's format: a Float32 buffer becomes Tf32
// in a 32-bit DEST kernel and Float16_b otherwise.
Format src_format(Format cb, DestWidth width);

// The intermediate format the packer rounds to before it writes `out`: Float32 for fp32, the integer itself for
// integers, Bfp8_b for both block formats (Float16_b or Float32 if `precise`, bfp8_pack_precise), else Float16_b.
Format pack_format(Format out, DestWidth width, bool precise = false);

// L1 -> SrcA or SrcB. Float32 loses its low bits (no rounding); denormals of a Float32 -> Float16_b unpack become
// zero; block formats become bf16, a negative zero mantissa becoming minus infinity.
void unpack(SrcTile& src, const void* l1, Format cb, Format reg);

// L1 -> DEST (UnpackToDestFp32, and every Int32 or UInt32 buffer), bit for bit.
void unpack_to_dest(DestTile& dest, const void* l1);

// Which datums of every face a pack keeps; the others are written as zero. Set by reduce_init, reset by reduce_uninit.
enum class PackMask : uint8_t { All, Column0, Row0, Datum0 };

// DEST -> L1. `via` is pack_format(out). Fp32 -> bf16 rounds to nearest, halves away from zero; NaN becomes infinity
// and denormals become zero unless `via` is Float32 or an integer. Block formats share the largest exponent of 16
// datums, round mantissas half up to 7 bits, saturate, and truncate to 3 bits for Bfp4_b.
void pack(void* l1, const DestTile& dest, DestWidth width, Format via, Format out, PackMask mask = PackMask::All);

// As pack, adding to what lies in L1 (packer L1 accumulation). `out` is Float32 or Float16_b.
void pack_accumulate(void* l1, const DestTile& dest, DestWidth width, Format via, Format out,
                     PackMask mask = PackMask::All);

// Index (face order) of the first datum that still holds the poison of fresh memory, bytes 0xFF, or -1. A block-float
// datum counts when its shared exponent and its mantissa are both poison; integers are never reported.
int first_poisoned(const void* l1, Format cb);

}  // namespace lb::tile
