#include "accumulate.h"
#include "fpu.h"

namespace lb::tile {
namespace {

// SrcA and SrcB datums carry 10 fraction bits; 11 with the hidden one.
LB_INLINE I32 mantissa(U32 x) { return (I32)((x >> 13 & 0x3FF) | 0x400); }

// The mantissa parts of a phase: 5 bits of SrcA, 7 of SrcB.
LB_INLINE I32 part_a(U32 a, int phase) { return phase & 1 ? mantissa(a) >> 1 & 31 : mantissa(a) >> 6; }
LB_INLINE I32 part_b(U32 b, int phase) { return phase & 2 ? (mantissa(b) & 15) << 3 : mantissa(b) >> 4; }
constexpr int phase_weight(int phase) { return (phase & 1 ? 5 : 0) + (phase & 2 ? 7 : 0); }

template <bool kFp32>
LB_INLINE U32 multiply(U32 a, U32 b, U32 dest, int phases) {
    const I32 any = (exponent(a) != 0) & (exponent(b) != 0);
    const I32 sign = (I32)(a ^ b) >> 31;
    for (int phase = 0; phase < phases; phase++) {
        I32 e = exponent(a) + exponent(b) - 127 - phase_weight(phase);
        I32 value = part_a(a, phase) * part_b(b, phase);
        const I32 live = any & (e > 0);
        e &= live;
        value = ((value ^ sign) - sign) & live;
        dest = accumulate<kFp32>({value, e}, {I32{}, I32{}}, dest);
    }
    return dest;
}

// The smaller operand is rounded to the 11 bits of the larger before the addition.
template <bool kFp32>
LB_INLINE U32 add(U32 a, U32 b, U32 dest) {
    a = flush_to_zero(a), b = flush_to_zero(b);
    const I32 swap = (I32)(a & ~kSign) < (I32)(b & ~kSign);
    const U32 large = swap ? b : a, small = swap ? a : b;
    const I32 e = exponent(large);
    const I32 shift = min(e - exponent(small), I32{} + 31);
    const I32 half = (I32)((U32)(I32{} + 1) << (U32)shift >> 1u);
    const I32 high = e == 0 ? I32{} : mantissa(large);
    const I32 low = exponent(small) == 0 ? I32{} : (mantissa(small) + half) >> shift;
    const I32 opposite = (I32)(large ^ small) >> 31, sign = (I32)large >> 31;
    I32 value = high + ((low ^ opposite) - opposite);
    value = (value ^ sign) - sign;
    return accumulate<kFp32>({value, e}, {I32{}, I32{}}, dest);
}

// The vector at index `at` of SrcB under a broadcast.
LB_INLINE U32 broadcast_at(const SrcTile& b, Broadcast broadcast, int at) {
    const int face = at / kFaceDatums, row = at % kFaceDatums / kFaceDim;
    switch (broadcast) {
        case Broadcast::None:
            return load(b.word + at);
        case Broadcast::Row:
            return load(b.word + face % 2 * kFaceDatums + at % kFaceDim);
        case Broadcast::Col:
            return splat(b.word[face / 2 * 2 * kFaceDatums + row * kFaceDim]);
        case Broadcast::Scalar:
            return splat(b.word[0]);
    }
    return U32{};
}

template <bool kFp32>
LB_INLINE U32 combine(Binary op, U32 a, U32 b, U32 dest, int phases, bool accumulate) {
    if (op == Binary::Mul) return multiply<kFp32>(a, b, dest, phases);
    if (op == Binary::Sub) b ^= kSign;
    return add<kFp32>(a, b, accumulate ? dest : U32{});
}

template <bool kFp32>
void binary_tile(Binary op, DestTile& dest, const SrcTile& a, const SrcTile& b, Broadcast broadcast, int phases,
                 bool accumulate) {
    for (int i = 0; i < kTileDatums; i += kLanes) {
        const U32 x = load(a.word + i), y = broadcast_at(b, broadcast, i), d = load(dest.word + i);
        store(dest.word + i, combine<kFp32>(op, x, y, d, phases, accumulate));
    }
    dest.written = ~uint64_t(0);
}

// What a move from DEST to a source register keeps.
LB_INLINE void dest_to_src(SrcTile& src, const DestTile& dest, Format format) {
    const uint32_t kept = format == Format::Tf32 ? 0xFFFFE000 : 0xFFFF0000;
    for (int i = 0; i < kTileDatums; i++) src.word[i] = dest.word[i] & kept;
    src.format = format;
}

}  // namespace

void binary(Binary op, DestTile& dest, const SrcTile& a, const SrcTile& b, Broadcast broadcast, Fidelity fidelity,
            DestWidth width, bool accumulate) {
    if (width == DestWidth::Bits32) {
        binary_tile<true>(op, dest, a, b, broadcast, int(fidelity), accumulate);
    } else {
        binary_tile<false>(op, dest, a, b, broadcast, int(fidelity), accumulate);
    }
}

void binary_reuse_dest(Binary op, DestTile& dest, const SrcTile& other, Reuse reuse, Broadcast broadcast,
                       Fidelity fidelity, DestWidth width, bool accumulate) {
    SrcTile moved;
    dest_to_src(moved, dest, other.format);
    if (op == Binary::Mul) clear(dest);
    const bool to_a = reuse == Reuse::DestToSrcA;
    binary(op, dest, to_a ? moved : other, to_a ? other : moved, broadcast, fidelity, width, accumulate);
}

void copy(DestTile& dest, const SrcTile& a, DestWidth width) {
    for (int i = 0; i < kTileDatums; i += kLanes) {
        const U32 x = load(a.word + i);
        U32 y = x;
        if (width == DestWidth::Bits32) {
            y = a.format == Format::UInt16 ? raw16(x) : add<true>(x, U32{}, U32{});
        }
        store(dest.word + i, y);
    }
    dest.written = ~uint64_t(0);
}

void copy_broadcast(DestTile& dest, const SrcTile& b, Broadcast broadcast, DestWidth width) {
    SrcTile spread;
    spread.format = b.format;
    for (int i = 0; i < kTileDatums; i += kLanes) store(spread.word + i, broadcast_at(b, broadcast, i));
    copy(dest, spread, width);
}

namespace {

void transpose_words(uint32_t* w) {
    const auto at = [](int r, int c) {
        return (r / kFaceDim * 2 + c / kFaceDim) * kFaceDatums + r % kFaceDim * kFaceDim + c % kFaceDim;
    };
    for (int r = 0; r < 2 * kFaceDim; r++) {
        for (int c = 0; c < r; c++) {
            const uint32_t keep = w[at(r, c)];
            w[at(r, c)] = w[at(c, r)];
            w[at(c, r)] = keep;
        }
    }
}

}  // namespace

void transpose(SrcTile& tile) { transpose_words(tile.word); }
void transpose(DestTile& tile) { transpose_words(tile.word); }

}  // namespace lb::tile
