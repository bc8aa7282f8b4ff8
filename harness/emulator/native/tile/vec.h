// Portable vectors as wide as the CPU's registers: 16, 8 or 4 lanes, so a row of a face is one to four of them.
//
// Only the .cpp files of this folder include this. Build them with -Wno-psabi (no vector crosses a translation unit)
// and -march=x86-64-v4 or -v3 where the CPU has it; results are the same without, times are not.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#endif

#define LB_INLINE inline __attribute__((always_inline))
#define LB_LAMBDA __attribute__((always_inline))

namespace lb::tile {

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX2__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif
using U32 = uint32_t __attribute__((vector_size(4 * kLanes)));
using I32 = int32_t __attribute__((vector_size(4 * kLanes)));
using F32 = float __attribute__((vector_size(4 * kLanes)));

LB_INLINE U32 splat(uint32_t x) { return U32{} + x; }

LB_INLINE U32 load(const uint32_t* p) {
    U32 v;
    std::memcpy(&v, p, sizeof v);
    return v;
}

LB_INLINE void store(uint32_t* p, U32 v) { std::memcpy(p, &v, sizeof v); }

LB_INLINE I32 min(I32 a, I32 b) { return a < b ? a : b; }
LB_INLINE I32 max(I32 a, I32 b) { return a > b ? a : b; }
LB_INLINE bool any(I32 mask) {
    using Pairs = int64_t __attribute__((vector_size(4 * kLanes)));
    const Pairs pairs = (Pairs)mask;
    int64_t found = 0;
    for (int i = 0; i < kLanes / 2; i++) found |= pairs[i];
    return found != 0;
}

// a * b + c with one rounding, where the CPU has it. Written out, as -ffp-contract must not decide.
#if defined(__AVX512F__)
#define LB_FUSED
LB_INLINE F32 fused(F32 a, F32 b, F32 c) { return (F32)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
#elif defined(__AVX2__) && defined(__FMA__)
#define LB_FUSED
LB_INLINE F32 fused(F32 a, F32 b, F32 c) { return (F32)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
#endif

LB_INLINE F32 to_float(I32 v) { return __builtin_convertvector(v, F32); }

// The IEEE fields that every unit of the core works on; datums are fp32 patterns throughout.
constexpr uint32_t kSign = 0x80000000, kInf = 0x7F800000, kFraction = 0x007FFFFF, kHidden = 0x00800000;

LB_INLINE I32 exponent(U32 x) { return (I32)(x >> 23 & 255); }
LB_INLINE U32 flush_to_zero(U32 x) { return (x & kInf) == 0 ? U32{} : x; }
LB_INLINE U32 flush_keep_sign(U32 x) { return (x & kInf) == 0 ? x & kSign : x; }

}  // namespace lb::tile
