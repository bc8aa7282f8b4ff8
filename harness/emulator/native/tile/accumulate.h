// The adder in front of DEST: aligns up to two sums of products and DEST to one exponent, adds, rounds.
#pragma once

#include "vec.h"

namespace lb::tile {

// A signed sum of products in units of 2^-10 of its power of two: value 1024 at exponent 127 is 1.0. The exponent is 0
// only if the value is.
struct Sum {
    I32 value, exponent;
};

// Adds two sums to DEST. Terms are shifted right to the largest exponent, halves rounded up (DEST, sign and magnitude:
// away from zero). 16-bit DEST then drops everything below 11 mantissa bits in the same way and rounds the result to
// bf16, halves away from zero. The result is an fp32 pattern; overflow gives infinity, an exponent below 1 gives +0.
template <bool kFp32>
LB_INLINE U32 accumulate(Sum s0, Sum s1, U32 dest) {
    const I32 dest_exponent = exponent(dest);
    const I32 top = max(max(s0.exponent, s1.exponent), dest_exponent);
    // Takes twice the term in units of 2^-23, which turns rounding into adding one before a last shift. The two
    // roundings of 16-bit DEST make one addition: floor((floor((t + 1) / 2) + 2^12) / 2^13).
    const auto align = [&](I32 twice, I32 e) {
        const I32 t = twice >> min(top - e, I32{} + 31);
        return kFp32 ? (t + 1) >> 1 : (t + 0x2001) >> 14;
    };
    const I32 twice_dest = dest_exponent == 0 ? I32{} : (I32)((dest & kFraction) << 1 | kHidden << 1);
    const I32 dest_sign = (I32)dest >> 31;
    const I32 total = align(s0.value << 14, s0.exponent) + align(s1.value << 14, s1.exponent) +
                      ((align(twice_dest, dest_exponent) ^ dest_sign) - dest_sign);

    const I32 sign = total >> 31;
    I32 m = (total ^ sign) - sign;
    if (kFp32) {
        // The conversion rounds ties to even; make them round up: one bit is dropped in [2^24, 2^25), more above.
        const I32 one = (m + 1) & ~1, more = m | 1;
        m = m < (1 << 24) ? m : m < (1 << 25) ? one : more;
    }
    U32 bits = (U32)to_float(m);
    if (!kFp32) bits = (bits + 0x8000) & 0xFFFF0000u;
    // bits carries the exponent of an integer: 150 for 2^23, which stands for top (137 for 2^10 in 16-bit DEST).
    const U32 shifted = bits + ((U32)(top - (kFp32 ? 150 : 137)) << 23);
    const I32 e = (I32)(bits >> 23) + top - (kFp32 ? 150 : 137);
    const U32 result = (e >= 255 ? splat(kInf) : shifted) | ((U32)sign & kSign);
    return ((m == 0) | (e <= 0)) ? U32{} : result;
}

}  // namespace lb::tile
