// The adder in front of DEST: aligns up to two sums of products and DEST to one exponent, adds, rounds.
#pragma once

#include "vec.h"

namespace lb::tile {

// A signed sum of products: value * 2^(exponent - 150), so a value of 2^23 at exponent 127 is 1.0. An exponent of 0
// belongs to a value of 0.
struct Sum {
    I32 value, exponent;
};

// Terms are shifted right to the largest exponent, halves rounded up (DEST, sign and magnitude: away from zero).
// 16-bit DEST first drops everything below 11 mantissa bits, then rounds the result to bf16, halves away from zero.
// The result is an fp32 pattern; overflow gives infinity, a result without an exponent +0.
template <bool kFp32>
LB_INLINE U32 accumulate(Sum s0, Sum s1, U32 dest) {
    const I32 dest_exponent = exponent(dest);
    const I32 top = max(max(s0.exponent, s1.exponent), dest_exponent);
    const auto align = [&](I32 value, I32 e) {
        const I32 shift = min(top - e, I32{} + 31);
        const I32 half = (I32)((U32)(I32{} + 1) << (U32)shift >> 1u);
        value = (value + half) >> shift;
        return kFp32 ? value : (value + 0x1000) & ~0x1FFF;
    };
    const I32 magnitude = dest_exponent == 0 ? I32{} : (I32)((dest & kFraction) | kHidden);
    const I32 dest_sign = (I32)dest >> 31;
    const I32 total = align(s0.value, s0.exponent) + align(s1.value, s1.exponent) +
                      ((align(magnitude, dest_exponent) ^ dest_sign) - dest_sign);

    const I32 sign = total >> 31;
    I32 m = (total ^ sign) - sign;
    if (kFp32) {
        // The conversion below rounds ties to even; make it round them up: one bit is dropped in [2^24, 2^25), more above.
        const I32 one = (m + 1) & ~1, more = m | 1;
        m = m < (1 << 24) ? m : m < (1 << 25) ? one : more;
    }
    U32 bits = (U32)to_float(m);
    if (!kFp32) bits = (bits + 0x8000) & 0xFFFF0000u;
    const I32 e = (I32)(bits >> 23) + top - 150;
    U32 result = (bits & kFraction) | (U32)e << 23;
    result = e >= 255 ? splat(kInf) : result;
    result |= (U32)sign & kSign;
    return (m == 0) | (e <= 0) ? U32{} : result;
}

}  // namespace lb::tile
