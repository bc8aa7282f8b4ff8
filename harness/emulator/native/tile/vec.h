// Portable 16-lane vectors: one vector holds one row of a 16x16 face.
#pragma once

#include <cstdint>
#include <cstring>

// Vectors cross no translation unit, so the calling convention GCC warns about is never used.
#pragma GCC diagnostic ignored "-Wpsabi"

#define LB_INLINE inline __attribute__((always_inline))

// Compiles a function for several instruction sets and picks one when the program starts.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__gnu_linux__)
#define LB_MULTIARCH __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define LB_MULTIARCH
#endif

namespace lb::tile {

constexpr int kLanes = 16;
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
LB_INLINE F32 to_float(I32 v) { return __builtin_convertvector(v, F32); }

// The IEEE fields that every unit of the core works on; datums are fp32 patterns throughout.
constexpr uint32_t kSign = 0x80000000, kInf = 0x7F800000, kFraction = 0x007FFFFF, kHidden = 0x00800000;

LB_INLINE I32 exponent(U32 x) { return (I32)(x >> 23 & 255); }
LB_INLINE U32 flush_to_zero(U32 x) { return (x & kInf) == 0 ? U32{} : x; }
LB_INLINE U32 flush_keep_sign(U32 x) { return (x & kInf) == 0 ? x & kSign : x; }

}  // namespace lb::tile
