// Dot products of 16 or 32 datums as the FPU forms them, a vector of lanes at a time.
#pragma once

#include "accumulate.h"
#include "format.h"

namespace lb::tile {

// A source tile split into the mantissa parts of the fidelity phases, as floats: SrcA 5 + 5 bits, SrcB 7 + 4 bits. In a
// dot product one operand lies along the lanes, the other is a number for all lanes; which of them is SrcA only matters
// for the part that a phase takes.
struct Operand {
    alignas(64) float high[kTileDatums];
    alignas(64) float low[kTileDatums];
    alignas(64) int32_t exponent[kTileDatums];  // SrcB's less 127, so that a sum of two is a product's; kZero for 0
    const uint32_t* word;
    int late;  // the bit of a phase that selects the low part: 1 for SrcA, 2 for SrcB
};

constexpr int32_t kZero = -1000;

// Products are nudged by 2^-13 so that the float addition that rounds them, ties to even, rounds ties away from zero.
constexpr float kNudge = 1.0f + 1.0f / 8192;

template <bool kIsA>
LB_INLINE void split(Operand& out, const SrcTile& src) {
    constexpr uint32_t high_bits = kIsA ? 0xFFF80000 : 0xFFFE0000, low_bits = kIsA ? 0x0007C000 : 0x0001E000;
    out.word = src.word;
    out.late = kIsA ? 1 : 2;
    for (int i = 0; i < kTileDatums; i += kLanes) {
        const U32 x = flush_to_zero(load(src.word + i));
        const U32 power = x & (kSign | kInf);
        F32 high = (F32)(x & high_bits);
        F32 low = (F32)(power | (x & low_bits)) - (F32)power;
        if (kIsA) high *= kNudge, low *= kNudge;
        const I32 e = x == 0 ? I32{} + kZero : lb::tile::exponent(x) - (kIsA ? 0 : 127);
        store((uint32_t*)out.high + i, (U32)high);
        store((uint32_t*)out.low + i, (U32)low);
        store((uint32_t*)out.exponent + i, (U32)e);
    }
}

// Where a step of 16 products per lane lies: the index of the first lane in row 0 of a face of one operand, and that of
// a row of a face of the other.
struct Step {
    int a, b;
    Step row(int r) const { return {a, b + r * kFaceDim}; }
};

constexpr int phase_weight(int phase) { return (phase & 1 ? 5 : 0) + (phase & 2 ? 7 : 0); }

// Infinities, NaNs and products beyond 2^114 leave the range of the float arithmetic in group_sums().
LB_INLINE bool in_float_range(const SrcTile& a, const SrcTile& b) {
    const auto largest = [](const SrcTile& src) {
        I32 e{};
        for (int i = 0; i < kTileDatums; i += kLanes) e = max(e, exponent(load(src.word + i)));
        int32_t all = 0;
        for (int i = 0; i < kLanes; i++) all = e[i] > all ? e[i] : all;
        return all;
    };
    const int32_t x = largest(a), y = largest(b);
    return x < 255 && y < 255 && x + y - 127 <= 241;
}

// The largest exponent among 8 products, per lane. Products of zero count as exponent 0.
LB_INLINE I32 group_exponent(const Operand& a, const Operand& b, const Step& s, int group) {
    I32 e{};
#pragma GCC unroll 8
    for (int k = 8 * group; k < 8 * group + 8; k++) {
        const I32 column = (I32)load((const uint32_t*)a.exponent + s.a + k * kFaceDim);
        e = max(e, column + b.exponent[s.b + k]);
    }
    return e;
}

// Sums of 8 products of one phase for each row, every product rounded to 2^-10 of the group's power of two: added to
// 1.5 * 2^23 such units, a product rounds into the low bits of a float, and sums of them stay there.
template <int kRows>
LB_INLINE void group_sums(const float* a, const float* b, Sum (&sums)[kRows], int group) {
    F32 bias[kRows], total[kRows];
    for (int r = 0; r < kRows; r++) total[r] = bias[r] = (F32)((U32)(sums[r].exponent + 13) << 23 | 0x400000);
#pragma GCC unroll 8
    for (int k = 8 * group; k < 8 * group + 8; k++) {
        const F32 column = (F32)load((const uint32_t*)a + k * kFaceDim);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; r++) total[r] += column * b[r * kFaceDim + k];
    }
    for (int r = 0; r < kRows; r++) {
        sums[r].value = sums[r].exponent > 0 ? (I32)total[r] - (I32)bias[r] : I32{};
    }
}

// The same on integers, for any exponent. Slow.
LB_INLINE void group_sum_exact(const Operand& a, const Operand& b, const Step& s, int phase, Sum& sum, int group) {
    I32 total{};
#pragma GCC unroll 8
    for (int k = 8 * group; k < 8 * group + 8; k++) {
        const int at = s.a + k * kFaceDim;
        const U32 x = load(a.word + at);
        const uint32_t y = b.word[s.b + k];
        const I32 x_bits = (I32)((x >> 13 & 0x3FF) | 0x400);
        const int y_bits = (y >> 13 & 0x3FF) | 0x400;
        const I32 x_part =
            a.late == 1 ? (phase & 1 ? x_bits >> 1 & 31 : x_bits >> 6) : (phase & 2 ? (x_bits & 15) << 3 : x_bits >> 4);
        const int y_part =
            b.late == 1 ? (phase & 1 ? y_bits >> 1 & 31 : y_bits >> 6) : (phase & 2 ? (y_bits & 15) << 3 : y_bits >> 4);
        const I32 product = x_part * y_part;
        const I32 product_exponent = (I32)load((const uint32_t*)a.exponent + at) + b.exponent[s.b + k];
        const I32 shift = min(sum.exponent - (product_exponent - phase_weight(phase)), I32{} + 30);
        const I32 rounded = ((product << 1) + ((I32{} + 1) << shift)) >> (shift + 1);
        const I32 sign = (I32)(x ^ y) >> 31;
        total += product_exponent < -500 ? I32{} : (rounded ^ sign) - sign;
    }
    sum.value = sum.exponent > 0 ? total : I32{};
}

// dest[r] += the steps' products for rows b, b + 1, ...: phase by phase, and within a phase step by step. Several rows
// at once, as each is one long chain of dependent operations.
template <bool kFp32, int kRows, int kSteps>
LB_INLINE void dot(U32 (&dest)[kRows], const Operand& a, const Operand& b, const Step (&steps)[kSteps], int phases,
                   bool exact) {
    I32 e[kSteps][2][kRows];
    for (int s = 0; s < kSteps; s++) {
#pragma GCC unroll 2
        for (int g = 0; g < 2; g++) {
            for (int r = 0; r < kRows; r++) e[s][g][r] = group_exponent(a, b, steps[s].row(r), g);
        }
    }
    for (int phase = 0; phase < phases; phase++) {
        for (int s = 0; s < kSteps; s++) {
            const float* x = (phase & a.late ? a.low : a.high) + steps[s].a;
            const float* y = (phase & b.late ? b.low : b.high) + steps[s].b;
            Sum sums[2][kRows];
#pragma GCC unroll 2
            for (int g = 0; g < 2; g++) {
                for (int r = 0; r < kRows; r++) sums[g][r].exponent = max(e[s][g][r] - phase_weight(phase), I32{});
                if (exact) {
                    for (int r = 0; r < kRows; r++) group_sum_exact(a, b, steps[s].row(r), phase, sums[g][r], g);
                } else {
                    group_sums(x, y, sums[g], g);
                }
            }
            for (int r = 0; r < kRows; r++) dest[r] = accumulate<kFp32>(sums[0][r], sums[1][r], dest[r]);
        }
    }
}

}  // namespace lb::tile
