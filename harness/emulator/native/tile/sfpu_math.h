// Exponential, reciprocal and roots of the SFPU, lane by lane.
#pragma once

#include "lanes.h"

namespace lb::tile::sfpu {

// 2^x of an fp32 x in [0, 256): the integer part becomes the exponent, a parabola of the fraction the mantissa.
struct Parts {
    U32 integer;   // the fixed-point value, integer part in the exponent field
    U32 fraction;  // as fp32, 0 .. 2^23
};

LB_INLINE Parts fixed_point(U32 x) {
    const U32 value = shift((x & kFraction) | kHidden, exponent(x) - 127);
    return {value, from_int(value & kFraction)};
}

constexpr float kLog2e = 1.4426950216293334961f, kExp1 = 7.839635491371155e-08f, kExp2 = 4.791750143340323e-15f;

// e^x to bf16 accuracy (Moroz et al. 2022, algorithm 21f), clamped to [0, inf].
LB_INLINE U32 exp_21f(U32 x) {
    const U32 log2 = lesser(greater(mad(x, number(kLog2e), number(127.0f)), U32{}), number(255.0f));
    const Parts p = fixed_point(log2);
    const U32 mantissa = mad(mad(number(kExp2), p.fraction, number(kExp1)), p.fraction, number(1.0017248f));
    return set_exponent(mantissa, p.integer >> 23);
}

// The form exp_tile uses in 16-bit DEST: a coarser constant, and a mask instead of the lower clamp.
LB_INLINE U32 exp_21f_masked(U32 x) {
    const U32 log2 = lesser(mad(x, number(kLog2e), number(127.0f)), number(255.0f));
    const Parts p = fixed_point(log2);
    const U32 mantissa = mad(mad(number(kExp2), p.fraction, number(kExp1)), p.fraction, number(1.001953125f));
    const U32 integer = order(log2) > 0 ? p.integer : U32{};
    return round_bf16(set_exponent(mantissa, integer >> 23));
}

// e^x to fp32 accuracy: Cody-Waite reduction and a polynomial of degree 6.
LB_INLINE U32 exp_fp32(U32 x) {
    const U32 steps = round_int(mul(number(1.442695f), x), 32767, true);
    const U32 j = from_int(steps);
    const U32 f = mad(j, number(-1.42860677e-6f), mad(j, number(-6.93145752e-1f), x));
    U32 r = mad(number(1.37805939e-3f), f, number(8.37312452e-3f));
    r = mad(r, f, number(4.16695364e-2f));
    r = mad(r, f, number(1.66664720e-1f));
    r = mad(r, f, number(4.99999851e-1f));
    const U32 y = mad(r, f, number(1.0f));
    r = mad(y, f, number(1.0f));
    const I32 magnitude = (I32)(steps & ~kSign);
    const I32 e = exponent(r) + (is_negative(j) ? -magnitude : magnitude);
    const U32 overflow = mul(y, splat(kInf));
    return e >= 255 ? overflow : e < 1 ? U32{} : set_exponent(r, (U32)e);
}

// Schraudolph's exponential: the integer 2^8 * (x / ln 2 + 127) - c, read as the high half of a float.
LB_INLINE U32 exp_approx(U32 x, float scale, bool clamp) {
    const float slope = 256.0f * 1.4426950408889634f * scale;
    if (clamp) x = greater(x, number(-88.5f / scale));
    const U32 i = mad(number(slope), x, number(32500.818359375f));
    if (clamp) return round_int(i, 65535, false) << 15;
    const U32 n = round_int(i, 32767, true);
    return (n << 15 & ~kSign) | (n & kSign);
}

// Reciprocal by Newton steps from 7 bits; zero, infinity and what the seed cannot hold keep the seed.
template <int kSteps>
LB_INLINE U32 reciprocal(U32 x) {
    const U32 seed = approximate_reciprocal(x), two = number(-2.0f), zero = number(-0.0f);
    U32 t = mad(x, seed, two);
    const I32 regular = is_negative(t);
    U32 y = mad(seed, negate(t), zero);
    if (kSteps > 1) {
        t = mad(x, y, two);
        y = mad(y, negate(t), zero);
    }
    return regular ? y : seed;
}

// recip_tile in 16-bit DEST: the error of the seed, as an integer, decides the last bit.
LB_INLINE U32 reciprocal_bf16(U32 x) {
    const U32 seed = approximate_reciprocal(x) | 0x8000;
    const U32 error = mad(mad(U32{}, U32{}, x), seed, number(-1.0f));
    return seed + (error >> 16);
}

// recip_tile in 32-bit DEST: y * (1 + e + e^2 + e^3).
LB_INLINE U32 reciprocal_fp32(U32 x) {
    const U32 seed = approximate_reciprocal(x);
    const U32 e = mad(negate(x), seed, number(1.0f));
    const U32 series = mad(mad(e, e, e), e, e);
    return mad(lesser(series, number(1.0f)), seed, seed);
}

// Square root and its reciprocal from an integer guess of 1/sqrt(x).
LB_INLINE U32 root(U32 x, bool inverse, bool approx) {
    const U32 nan = splat(0x7FC00000);
    const U32 guess = (approx ? 0x5F0B3892 : 0x5F1110A0) - (x >> 1);
    const I32 zero = is_zero(x), negative = is_negative(x), infinite = x == kInf;
    const U32 limit = kInf - x;  // infinity of the sign of a zero, 0 for infinity
    U32 y, xy, correction;
    if (approx) {
        y = guess;
        xy = mul(x, y);
        correction = mad(negate(y), xy, number(1.89099014875f));
    } else {
        const U32 c = mul(negate(guess), mul(x, guess));
        y = mul(guess, mad(c, add(number(2.2533049f), c), number(2.2825186f)));
        xy = mul(x, y);
        correction = mad_on_integers(negate(y), xy, number(1.0f));  // cancels almost always
    }
    if (inverse) {
        const I32 e = exponent(y);
        const U32 half = set_exponent(y, (U32)(e == 255 ? e : e - 1));
        U32 r = approx ? mul(y, correction) : mad(correction, half, y);
        r = negative ? nan : r;
        return (infinite | zero) ? limit : r;
    }
    U32 r;
    if (approx) {
        r = infinite ? xy : mul(xy, correction);
    } else {
        const I32 below = (I32)(x - kInf) < 0;
        r = below ? mad(correction, mul(number(0.5f), xy), xy) : y;
    }
    return zero ? x : negative ? nan : r;
}

LB_INLINE U32 sigmoid_16(U32 x) { return reciprocal<1>(add(number(1.0f), exp_21f(negate(x)))); }
LB_INLINE U32 sigmoid_32(U32 x) { return reciprocal<2>(add(number(1.0f), exp_fp32(negate(x)))); }

// Three straight pieces in |x|, odd about (0, 0.5).
LB_INLINE U32 sigmoid_approx(U32 x) {
    const U32 magnitude = x & ~kSign;
    const I32 first = magnitude < 0x3F800000u, second = magnitude < 0x40000000u;
    const U32 slope = first ? number(0.2265625f) : second ? number(0.265625f) : U32{};
    const U32 offset = first ? U32{} : second ? number(-0.046875f) : number(0.5f);
    const U32 y = mad(slope, magnitude, offset);
    return add((y & ~kSign) | (x & kSign), number(0.5f));
}

LB_INLINE U32 divide_16(U32 a, U32 b) {
    U32 r = mul(a, reciprocal<2>(b));
    const U32 by_zero = a == 0 ? splat(0x7FC00000) : splat(kInf) | (a & kSign);
    return round_bf16_even(b == 0 ? by_zero : r);
}

// Divides mantissas in [1, 2) and puts the exponent back in two factors, which over- or underflow as they must.
LB_INLINE U32 divide_32(U32 a, U32 b) {
    const U32 ma = set_exponent(a, splat(127)), mb = set_exponent(b, splat(127));
    U32 r = approximate_reciprocal(mb);
    r = mad(r, negate(mad(mb, r, number(-2.0f))), number(-0.0f));
    U32 q = mul(ma, r);
    q = mad(mad(negate(q), mb, ma), r, q);
    const I32 ea = exponent(a), eb = exponent(b) - 127;
    const U32 e = (U32)(ea - eb + exponent(q)), half = e >> 1;
    const U32 regular = mul(set_exponent(q, half), set_exponent(number(1.0f), e - half));
    // Zero, infinity, NaN: only the class of the reciprocal matters, which its inverted exponent gives.
    const U32 nan_divisor = (b & ~kSign) > kInf ? splat(~0u) : U32{};
    const U32 irregular = mad(negate(a), ~b & 0xFF800000u, nan_divisor);
    return ((ea >= 1) & (ea < 255) & (eb >= -126) & (eb < 128)) ? regular : irregular;
}

}  // namespace lb::tile::sfpu
