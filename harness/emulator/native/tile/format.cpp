#include "format.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "vec.h"

namespace lb::tile {
namespace {

constexpr int kBlock = 16;  // datums that share an exponent: one row of a face
constexpr int kBlocks = kTileDatums / kBlock;

bool is_block(Format f) { return f == Format::Bfp8_b || f == Format::Bfp4_b; }
bool is_int(Format f) { return f == Format::Int32 || f == Format::UInt32 || f == Format::UInt16; }

using U16 = uint16_t __attribute__((vector_size(2 * kLanes)));

LB_INLINE U32 load16(const uint8_t* p) {
    U16 v;
    std::memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, U32);
}

LB_INLINE void store16(uint8_t* p, U32 v) {
    const U16 narrow = __builtin_convertvector(v, U16);
    std::memcpy(p, &narrow, sizeof narrow);
}

using U8 = uint8_t __attribute__((vector_size(kLanes)));

LB_INLINE U32 load8(const uint8_t* p) {
    U8 v;
    std::memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, U32);
}

LB_INLINE void store8(uint8_t* p, U32 v) {
    const U8 narrow = __builtin_convertvector(v, U8);
    std::memcpy(p, &narrow, sizeof narrow);
}

// A datum is a sign and a magnitude of 7 bits (Bfp4_b: 3, moved up), 1.0 at bit 6, times the block's power of two. Its
// exponent wraps; a magnitude of zero with a sign is minus infinity.
void unpack_blocks(uint32_t* word, const uint8_t* l1, bool four_bit) {
    const uint8_t* datums = l1 + kBlocks;
    uint8_t wide[kTileDatums];
    if (four_bit) {
        for (int i = 0; i < kTileDatums; i += 2) {
            wide[i] = datums[i / 2] << 4;
            wide[i + 1] = datums[i / 2] & 0xF0;
        }
        datums = wide;
    }
    for (int i = 0; i < kTileDatums; i += kLanes) {
        const U32 datum = load8(datums + i), sign = (datum & 0x80) << 24, magnitude = datum & 0x7F;
        const U32 number = (U32)to_float((I32)magnitude);  // exponent 127 for 1, so 133 for the 1.0 of a block
        const U32 exponent = ((number >> 23) - 133 + l1[i / kBlock]) & 255;
        const U32 zero = sign == 0 ? U32{} : splat(kSign | kInf);
        store(word + i, magnitude == 0 ? zero : sign | exponent << 23 | (number & kFraction));
    }
}

// bf16 patterns (in the low half of each word) to exponents, each shared by 16 datums, and mantissas.
void pack_blocks(uint8_t* l1, const uint32_t* halves, bool four_bit) {
    uint8_t datums[kTileDatums];
    for (int block = 0; block < kBlocks; block++) {
        const uint32_t* x = halves + block * kBlock;
        uint32_t shared = 0;
        for (int i = 0; i < kBlock; i++) shared = std::max(shared, x[i] & 0x7FFF);
        shared >>= 7;
        l1[block] = shared;
        for (int i = 0; i < kBlock; i += kLanes) {
            const U32 half = load(x + i), e = half >> 7 & 255, distance = shared - e;
            const U32 shift = distance > 8 ? splat(8) : distance;
            const U32 fraction = (half & 127) | (e == 0 ? U32{} : splat(128));
            U32 m = (fraction + (splat(1) << shift)) >> (shift + 1);
            m = m > 127 ? splat(127) : m;
            m = distance >= 8 ? U32{} : four_bit ? m >> 4 : m;
            const U32 sign = (half >> 15 & 1) << (four_bit ? 3 : 7);
            store8(datums + block * kBlock + i, m == 0 ? U32{} : m | sign);
        }
    }
    uint8_t* out = l1 + kBlocks;
    if (!four_bit) {
        std::memcpy(out, datums, sizeof datums);
    } else {
        for (int i = 0; i < kTileDatums; i += 2) out[i / 2] = datums[i] | datums[i + 1] << 4;
    }
}

// What the packer holds between DEST and its output stage: an fp32 pattern or integer in 32 bits, else 16 bits.
LB_INLINE U32 intermediate(U32 x, DestWidth width, Format via) {
    if (via == Format::Float32 || via == Format::Int32 || via == Format::UInt32) return x;
    if (via == Format::UInt16) return raw16(x);
    x = (x & ~kSign) > kInf ? (x & kSign) | kInf : x;
    U32 half = via == Format::Float16_b && width == DestWidth::Bits32 ? (x + 0x8000) >> 16 : x >> 16;
    if (via == Format::Bfp8_b && width == DestWidth::Bits32) half = (half + 1) & ~1u;
    half = (half & 0x7FFF) < 0x80 ? U32{} : half;
    if (via == Format::Bfp8_b && width == DestWidth::Bits16) half = (half + 1) & ~1u;
    return half;
}

bool is_wide(Format via) { return via == Format::Float32 || via == Format::Int32 || via == Format::UInt32; }

// The datums of the vector at index `at` that a mask keeps.
U32 mask_of(PackMask mask, int at) {
    const bool top = at % kFaceDatums < kFaceDim, left = at % kFaceDim == 0;
    U32 first{};
    first[0] = left ? ~0u : 0;
    switch (mask) {
        case PackMask::All:
            return splat(~0u);
        case PackMask::Column0:
            return first;
        case PackMask::Row0:
            return splat(top ? ~0u : 0);
        case PackMask::Datum0:
            return top ? first : U32{};
    }
    return U32{};
}

// bf16 + bf16 in the packer: exact sum, rounded to nearest even; a NaN counts as a very large number.
uint16_t add_bf16(uint16_t a, uint16_t b) {
    const auto widen = [](uint16_t x, double nan) {
        float f;
        const uint32_t pattern = uint32_t((x & 0x7FFF) < 0x80 ? x & 0x8000 : x) << 16;
        std::memcpy(&f, &pattern, 4);
        return (x & 0x7FFF) > 0x7F80 ? (x & 0x8000 ? -nan : nan) : double(f);
    };
    if ((a & 0x7FFF) == 0x7F80 && (b & 0x7FFF) == 0x7F80 && a != b) return 0x7FC0;
    // Read as a number, a NaN's exponent of 255 stands for 2^128 and its fraction keeps its weight.
    const double incoming_nan = 340282366920938463463374607431768211456.0 * (1.0 + (b & 0x7F) / 128.0);
    const double sum = widen(a, 1.7976931348623157e308) + widen(b, incoming_nan);
    uint64_t bits;
    std::memcpy(&bits, &sum, 8);
    const uint16_t sign = bits >> 63 << 15;
    const int e = int(bits >> 52 & 0x7FF) - 1023 + 127;
    if (e <= 0) return sign;
    if (e >= 255) return sign | 0x7F80;
    const uint64_t fraction = bits & ((uint64_t(1) << 52) - 1);
    const uint64_t rounded = (fraction + (uint64_t(1) << 44) - 1 + (fraction >> 45 & 1)) >> 45;
    return sign | uint16_t((e << 7) + rounded);
}

uint32_t add_fp32(uint32_t a, uint32_t b) {
    const auto flush = [](uint32_t x) { return (x & kInf) == 0 ? x & kSign : x; };
    a = flush(a), b = flush(b);
    float x, y;
    std::memcpy(&x, &a, 4), std::memcpy(&y, &b, 4);
    const float sum = x + y;
    uint32_t bits;
    std::memcpy(&bits, &sum, 4);
    return (bits & ~kSign) > kInf ? 0x7FC00000 : flush(bits);
}

}  // namespace

size_t tile_bytes(Format format) {
    switch (format) {
        case Format::Float32:
        case Format::Int32:
        case Format::UInt32:
            return 4096;
        case Format::Float16_b:
        case Format::UInt16:
            return 2048;
        case Format::Bfp8_b:
            return kBlocks + 1024;
        case Format::Bfp4_b:
            return kBlocks + 512;
        case Format::Tf32:
            return 0;
    }
    return 0;
}

void clear(DestTile& dest) {
    std::memset(dest.word, 0, sizeof dest.word);
    dest.written = 0;
}

Format src_format(Format cb, DestWidth width) {
    if (cb != Format::Float32) return cb;
    return width == DestWidth::Bits32 ? Format::Tf32 : Format::Float16_b;
}

Format pack_format(Format out, DestWidth width, bool precise) {
    if (is_int(out)) return out;
    if (width == DestWidth::Bits32 && (out == Format::Float32 || (is_block(out) && precise))) return Format::Float32;
    return is_block(out) && !precise ? Format::Bfp8_b : Format::Float16_b;
}

void unpack(SrcTile& src, const void* l1, Format cb, Format reg) {
    const auto* bytes = static_cast<const uint8_t*>(l1);
    src.format = reg;
    if (is_block(cb)) return unpack_blocks(src.word, bytes, cb == Format::Bfp4_b);
    for (int i = 0; i < kTileDatums; i += kLanes) {
        U32 x;
        if (cb == Format::Float32) {
            std::memcpy(&x, bytes + 4 * i, sizeof x);
            x = reg == Format::Tf32 ? x & 0xFFFFE000u : flush_keep_sign(x) & 0xFFFF0000u;
        } else {
            x = load16(bytes + 2 * i);
            x = cb == Format::UInt16 ? from_raw16(x) : x << 16;
        }
        store(src.word + i, x);
    }
}

void unpack_to_dest(DestTile& dest, const void* l1) {
    std::memcpy(dest.word, l1, sizeof dest.word);
    dest.written = ~uint64_t(0);
}

void pack(void* l1, const DestTile& dest, DestWidth width, Format via, Format out, PackMask mask) {
    auto* bytes = static_cast<uint8_t*>(l1);
    uint32_t halves[kTileDatums];  // of a block format
    for (int i = 0; i < kTileDatums; i += kLanes) {
        U32 x = load(dest.word + i);
        if (mask != PackMask::All) x &= mask_of(mask, i);
        x = intermediate(x, width, via);
        if (is_block(out)) {
            if (via == Format::Float32) {
                x >>= 16;
                x = (x & 0x7FFF) < 0x80 ? U32{} : x;
            }
            store(halves + i, x);
        } else if (is_wide(out)) {
            if (!is_wide(via)) x <<= 16;
            std::memcpy(bytes + 4 * i, &x, sizeof x);
        } else {
            store16(bytes + 2 * i, x);
        }
    }
    if (is_block(out)) pack_blocks(bytes, halves, out == Format::Bfp4_b);
}

void pack_accumulate(void* l1, const DestTile& dest, DestWidth width, Format via, Format out, PackMask mask) {
    alignas(64) uint8_t fresh[4 * kTileDatums];
    pack(fresh, dest, width, via, out, mask);
    const auto accumulate = [&](auto* total, auto add) {
        for (int i = 0; i < kTileDatums; i++) {
            std::remove_pointer_t<decltype(total)> term;
            std::memcpy(&term, fresh + i * sizeof term, sizeof term);
            total[i] = add(total[i], term);
        }
    };
    if (out == Format::Float32) {
        accumulate(static_cast<uint32_t*>(l1), add_fp32);
    } else {
        accumulate(static_cast<uint16_t*>(l1), add_bf16);
    }
}

int first_poisoned(const void* l1, Format cb) {
    const auto* bytes = static_cast<const uint8_t*>(l1);
    if (is_int(cb)) return -1;
    if (is_block(cb)) {
        const bool four_bit = cb == Format::Bfp4_b;
        for (int i = 0; i < kTileDatums; i++) {
            if (bytes[i / kBlock] != 0xFF) continue;
            const uint8_t byte = bytes[kBlocks + (four_bit ? i / 2 : i)];
            if (four_bit ? (byte >> (i % 2 * 4) & 15) == 15 : byte == 0xFF) return i;
        }
        return -1;
    }
    for (int i = 0; i < kTileDatums; i += kLanes) {
        U32 x;
        if (cb == Format::Float32) {
            std::memcpy(&x, bytes + 4 * i, sizeof x);
        } else {
            x = load16(bytes + 2 * i) | 0xFFFF0000u;
        }
        if (!any(x == ~0u)) continue;
        for (int lane = 0; lane < kLanes; lane++) {
            if (x[lane] == ~0u) return i + lane;
        }
    }
    return -1;
}

}  // namespace lb::tile
