// SFPU instructions on vectors of lanes. Datums are 32-bit words: fp32 patterns, two's complement or sign-magnitude
// integers, as the instruction says.
#pragma once

#include "vec.h"

namespace lb::tile::sfpu {

LB_INLINE U32 number(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    return splat(bits);
}

LB_INLINE U32 negate(U32 x) { return x ^ kSign; }
LB_INLINE I32 is_negative(U32 x) { return (I32)x < 0; }  // sign bit, so also -0 and -NaN
LB_INLINE I32 is_zero(U32 x) { return (x & ~kSign) == 0; }

// a * b + c (SFPMAD), not quite IEEE's: operands and result are flushed to zero, the product is cut to 28 bits with
// the last bit sticky before the addition, and bits shifted out leave a trace only while others remain.
LB_INLINE U32 mad_on_integers(U32 a, U32 b, U32 c) {
    const auto significand = [](U32 x) { return (x & kInf) == 0 ? U32{} : (x & kFraction) | kHidden; };
    const U32 ma = significand(a), mb = significand(b), mc = significand(c) << 3;
    const U32 product_sign = (a ^ b) & kSign, c_sign = c & kSign;

    // The 48-bit product from 12-bit halves; keep the high 28 bits.
    const U32 ah = ma >> 12, al = ma & 0xFFF, bh = mb >> 12, bl = mb & 0xFFF, low = al * bl;
    const U32 middle = ah * bl + al * bh + (low >> 12);
    const U32 lost = (middle & 0xFF) | (low & 0xFFF);
    const U32 p = (ah * bh << 4) + (middle >> 8);
    const U32 product = lost == 0 ? p : p | 1;

    const I32 ea = exponent(a), eb = exponent(b), ec = exponent(c);
    const I32 ep = ea + eb - 127, top = max(ep, ec);
    const auto align = [&](U32 m, I32 e) {
        const U32 shift = (U32)min(top - e, I32{} + 31);
        const U32 kept = m >> shift;
        return ((kept != 0) & ((kept << shift) != m)) ? kept | 1 : kept;
    };
    const U32 x = align(product, ep), y = align(mc, ec);
    const I32 product_larger = x >= y;
    const U32 sign = product_larger ? product_sign : c_sign;
    const U32 difference = product_larger ? x - y : y - x;
    const U32 m = product_sign == c_sign ? x + y : difference;

    // Normalise to a leading bit 26. Clearing the bit below the leading one keeps the conversion from rounding up.
    const I32 lead = (I32)((U32)to_float((I32)(m & ~(m >> 1))) >> 23) - 127;
    I32 right = lead - 26;
    I32 e = top + right;
    const I32 tiny = e <= 0;
    right = tiny ? right + 1 : right;
    const I32 overflow = e >= 255;
    e = tiny ? I32{} : e;
    const U32 count = (U32)(right > 0 ? right : -right) & 31;
    const U32 fallen = (m & (U32)(right | 1)) != 0 ? splat(1) : U32{};
    const U32 normal = right > 0 ? (m >> count) | fallen : m << count;
    U32 r = ((U32)e << 23) + (normal >> 3 & kFraction);
    r += ((normal & 7) + (r & 1)) > 4 ? splat(1) : U32{};
    r = (r >> 23) == 0 ? U32{} : r;
    r = overflow ? splat(kInf) : r;
    r |= sign;

    const U32 zero = c_sign & product_sign;
    r = m == 0 ? zero : r;
    r = ((product == 0) | (ep < 0)) ? (mc == 0 ? zero : c) : r;
    // Infinities and NaN. An overflowing product counts as infinite.
    const I32 special = (ea == 255) | (eb == 255) | (ec == 255) | (ep >= 255);
    const auto is_nan = [](U32 v) { return (v & ~kSign) > kInf; };
    const I32 nan = is_nan(a) | is_nan(b) | is_nan(c) | ((ea == 255) & (mb == 0)) | ((eb == 255) & (ma == 0)) |
                    ((ec == 255) & ((ea == 255) | (eb == 255)) & (c_sign != product_sign));
    const U32 infinite = ec == 255 ? c : product_sign | kInf;
    return special ? (nan ? splat(0x7FC00000) : infinite) : r;
}

inline __attribute__((noinline)) U32 mad_apart(U32 a, U32 b, U32 c) { return mad_on_integers(a, b, c); }

// IEEE's fused operation gives the same result unless a product of more than 24 bits meets an addend that it cancels
// or that lies 3 or more bits below it, or numbers come near the ends of the range. Then the vector takes the long way.
LB_INLINE U32 mad(U32 a, U32 b, U32 c) {
#ifdef LB_FUSED
    const U32 x = flush_keep_sign(a), y = flush_keep_sign(b), z = flush_keep_sign(c);
    const F32 product = (F32)x * (F32)y, r = fused((F32)x, (F32)y, (F32)z);
    const U32 rest = (U32)fused((F32)x, (F32)y, -product);
    const I32 ep = exponent((U32)product), ez = exponent(z), er = exponent((U32)r);
    const I32 inexact = ~is_zero(rest) & ((er < max(ep, ez) - 1) | ((ez < ep - 2) & ~is_zero(z)));
    const I32 extreme = (max(ep, ez) > 250) | ((ep < 50) & !(is_zero(x) | is_zero(y)));
    if (!any(inexact | extreme)) return (U32)r;
    return mad_apart(a, b, c);
#else
    return mad_on_integers(a, b, c);
#endif
}

LB_INLINE U32 mul(U32 a, U32 b) { return mad(a, b, U32{}); }
LB_INLINE U32 add(U32 a, U32 b) { return mad(number(1.0f), a, b); }
LB_INLINE U32 sub(U32 a, U32 b) { return mad(number(1.0f), a, negate(b)); }

// Order of sign and magnitude (SFPSWAP, SFPGT, SFPLE): -NaN < -inf < ... < -0 < +0 < ... < +NaN.
LB_INLINE I32 order(U32 x) { return (I32)(is_negative(x) ? x ^ ~kSign : x); }
LB_INLINE U32 lesser(U32 a, U32 b) { return order(a) < order(b) ? a : b; }
LB_INLINE U32 greater(U32 a, U32 b) { return order(a) < order(b) ? b : a; }

LB_INLINE U32 set_exponent(U32 x, U32 e) { return (x & ~kInf) | (e & 255) << 23; }

// Shift left, or right by a negative amount (SFPSHFT).
LB_INLINE U32 shift(U32 x, I32 by) {
    const U32 left = (U32)by & 31, right = (U32)-by & 31;
    return by < 0 ? x >> right : x << left;
}

// To bf16: nearest, halves away from zero; denormals become +0 and NaN infinity (SFPSTOCHRND without its dice).
LB_INLINE U32 round_bf16(U32 x) {
    const U32 rounded = (x + 0x8000) & 0xFFFF0000u;
    const I32 e = exponent(x);
    return e == 0 ? U32{} : e == 255 ? x & (kSign | kInf) : rounded;
}

// To bf16: nearest even, by integer arithmetic as kernels do it; a NaN may overflow.
LB_INLINE U32 round_bf16_even(U32 x) { return (x + 0x7FFF + (x >> 16 & 1)) & 0xFFFF0000u; }

// To a sign-magnitude integer of at most `limit`, nearest, halves away from zero; unsigned drops the sign.
LB_INLINE U32 round_int(U32 x, uint32_t limit, bool keep_sign) {
    const I32 e = exponent(x) - 127;
    const U32 significand = (x & kFraction) | kHidden;
    // Twice the magnitude; its last bit decides the rounding.
    const U32 twice = significand >> (U32)min(max(22 - e, I32{}), I32{} + 31);
    U32 magnitude = (twice + 1) >> 1;
    magnitude = magnitude > limit ? splat(limit) : magnitude;
    magnitude = e < -1 ? U32{} : e >= 16 ? splat(limit) : magnitude;
    const U32 sign = keep_sign ? x & kSign : U32{};
    return ((magnitude == 0) & (e < 16)) ? U32{} : magnitude | sign;
}

// Sign-magnitude integer to fp32, nearest even (SFPCAST).
LB_INLINE U32 from_int(U32 x) { return (U32)to_float((I32)(x & ~kSign)) | (x & kSign); }

// 1/x to 7 bits (SFPARECIP): 0 from 2^126 up, infinity for zero and denormals.
LB_INLINE U32 approximate_reciprocal(U32 x) {
    // The reciprocal of the middle of each 1/128 step of [1, 2), rounded to 7 fraction bits.
    static constexpr struct Table {
        uint8_t fraction[128];
        constexpr Table() : fraction() {
            for (int i = 0; i < 128; i++) {
                const int divisor =
                    257 + 2 * i;  // of 2 * 256 * 128: the reciprocal times 256, less 128, is the fraction
                fraction[i] = uint8_t((2 * 256 * 128 + divisor / 2) / divisor - 128);
            }
        }
    } table;
    const U32 magnitude = x & ~kSign;
    U32 fraction;
    for (int lane = 0; lane < kLanes; lane++) fraction[lane] = table.fraction[magnitude[lane] >> 16 & 127];
    U32 r = (253 - (magnitude >> 23)) << 23 | fraction << 16;
    r = magnitude >= 0x7E800000u ? U32{} : r;
    r = magnitude < kHidden ? splat(kInf) : r;
    return r | (x & kSign);
}

}  // namespace lb::tile::sfpu
