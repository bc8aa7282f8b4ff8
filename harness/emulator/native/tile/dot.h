// Dot products of 16 or 32 datums as the FPU forms them, a vector of columns at a time.
#pragma once

#include "accumulate.h"
#include "format.h"

namespace lb::tile {

// A source tile split into the mantissa parts of the fidelity phases, as floats: SrcA 5 + 5 bits, SrcB 7 + 4 bits.
struct Operand {
    alignas(64) float high[kTileDatums];
    alignas(64) float low[kTileDatums];
    alignas(64) int32_t exponent[kTileDatums];  // SrcB's less 127, so that a sum of two is a product's; kZero for 0
    const uint32_t* word;
};

constexpr int32_t kZero = -1000;

// Products are nudged by 2^-13 so that the float addition that rounds them, ties to even, rounds ties away from zero.
constexpr float kNudge = 1.0f + 1.0f / 8192;

template <bool kIsA>
LB_INLINE void split(Operand& out, const SrcTile& src) {
    constexpr uint32_t high_bits = kIsA ? 0xFFF80000 : 0xFFFE0000, low_bits = kIsA ? 0x0007C000 : 0x0001E000;
    out.word = src.word;
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

// Where a step of 16 products per column lies: the index of the first column in row 0 of a face of SrcA, and that of a
// row of a face of SrcB.
struct Step {
    int a, b;
    Step row(int r) const { return {a, b + r * kFaceDim}; }
};

constexpr int phase_weight(int phase) { return (phase & 1 ? 5 : 0) + (phase & 2 ? 7 : 0); }

// Infinities, NaNs and products beyond 2^114 leave the range of the float arithmetic in group_sum().
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

// The largest exponent among 8 products, per column. Products of zero count as exponent 0.
LB_INLINE I32 group_exponent(const Operand& a, const Operand& b, const Step& s, int group) {
    I32 e{};
#pragma GCC unroll 8
    for (int k = 8 * group; k < 8 * group + 8; k++) {
        const I32 column = (I32)load((const uint32_t*)a.exponent + s.a + k * kFaceDim);
        e = max(e, column + b.exponent[s.b + k]);
    }
    return e;
}

// Sum of 8 products of one phase, each rounded to 2^-10 of the group's power of two. Adding 1.5 * 2^23 such units puts
// the rounded product into the low bits of a float.
LB_INLINE Sum group_sum(const float* a, const float* b, I32 e, int group) {
    const U32 bias = (U32)(e + 13) << 23 | 0x400000;
    U32 total{};
#pragma GCC unroll 8
    for (int k = 8 * group; k < 8 * group + 8; k++) {
        total += (U32)((F32)load((const uint32_t*)a + k * kFaceDim) * b[k] + (F32)bias);
    }
    const I32 value = (I32)(total - (bias << 3));
    return {e > 0 ? value : I32{}, e};
}

// The same on integers, for any exponent. Slow.
LB_INLINE Sum group_sum_exact(const Operand& a, const Operand& b, const Step& s, int phase, I32 e, int group) {
    I32 total{};
#pragma GCC unroll 8
    for (int k = 8 * group; k < 8 * group + 8; k++) {
        const int at = s.a + k * kFaceDim;
        const U32 x = load(a.word + at);
        const uint32_t y = b.word[s.b + k];
        const I32 x_bits = (I32)((x >> 13 & 0x3FF) | 0x400);
        const int y_bits = (y >> 13 & 0x3FF) | 0x400;
        const I32 product =
            (phase & 1 ? x_bits >> 1 & 31 : x_bits >> 6) * (phase & 2 ? (y_bits & 15) << 3 : y_bits >> 4);
        const I32 product_exponent = (I32)load((const uint32_t*)a.exponent + at) + b.exponent[s.b + k];
        const I32 shift = min(e - (product_exponent - phase_weight(phase)), I32{} + 30);
        const I32 rounded = ((product << 1) + ((I32{} + 1) << shift)) >> (shift + 1);
        const I32 sign = (I32)(x ^ y) >> 31;
        total += product_exponent < -500 ? I32{} : (rounded ^ sign) - sign;
    }
    return {e > 0 ? total : I32{}, e};
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
            const float* x = (phase & 1 ? a.low : a.high) + steps[s].a;
            const float* y = (phase & 2 ? b.low : b.high) + steps[s].b;
            for (int r = 0; r < kRows; r++) {
                Sum sum[2];
#pragma GCC unroll 2
                for (int g = 0; g < 2; g++) {
                    const I32 top = max(e[s][g][r] - phase_weight(phase), I32{});
                    sum[g] = exact ? group_sum_exact(a, b, steps[s].row(r), phase, top, g)
                                   : group_sum(x, y + r * kFaceDim, top, g);
                }
                dest[r] = accumulate<kFp32>(sum[0], sum[1], dest[r]);
            }
        }
    }
}

}  // namespace lb::tile
