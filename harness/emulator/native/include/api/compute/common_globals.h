// What all compute headers share: the three roles a kernel is compiled for, the compute kernels' vocabulary, and
// helpers that turn it into calls of the machine.
#pragma once

#if !defined(TRISC_UNPACK) && !defined(TRISC_MATH) && !defined(TRISC_PACK)
#error "api/compute/ belongs to compute kernels; this is a data-movement kernel"
#endif

#include "lb/kernel.h"

#ifdef TRISC_MATH
#define MATH(...) __VA_ARGS__
#else
#define MATH(...)
#endif
#ifdef TRISC_PACK
#define PACK(...) __VA_ARGS__
#else
#define PACK(...)
#endif
#ifdef TRISC_UNPACK
#define UNPACK(...) __VA_ARGS__
#else
#define UNPACK(...)
#endif

namespace ckernel {

enum class MathFidelity : uint8_t { LoFi = 0, HiFi2 = 2, HiFi3 = 3, HiFi4 = 4 };
enum class VectorMode : uint8_t { None = 0, R = 1, C = 2, RC = 4 };
enum class ReduceDim : uint8_t { REDUCE_ROW, REDUCE_COL, REDUCE_SCALAR };
enum class PoolType : uint8_t { SUM, AVG, MAX };
enum class EltwiseBinaryType : uint8_t { ELWMUL, ELWDIV, ELWADD, ELWSUB };
enum class EltwiseBinaryReuseDestType { NONE = 0, DEST_TO_SRCA = 1, DEST_TO_SRCB = 2 };
enum class BroadcastType : uint8_t { NONE = 0, COL = 1, ROW = 2, SCALAR = 3 };
enum class SrcOrder : uint8_t { Regular = 0, Reverse = 1 };

}  // namespace ckernel

using namespace ckernel;

constexpr MathFidelity MATH_FIDELITY = MathFidelity(LB_MATH_FIDELITY);
constexpr bool APPROX = LB_MATH_APPROX;
constexpr bool DST_ACCUM_MODE = LB_FP32_DEST;

namespace lb {

constexpr uint8_t phases(MathFidelity f) { return f == MathFidelity::LoFi ? 1 : uint8_t(f); }

constexpr Config binary_config(EltwiseBinaryType type, BroadcastType broadcast = BroadcastType::NONE) {
    Config c;
    c.op = Fpu::Binary;
    c.binary = type == EltwiseBinaryType::ELWADD ? 0 : type == EltwiseBinaryType::ELWSUB ? 1 : 2;
    c.broadcast = broadcast == BroadcastType::ROW ? 1 : broadcast == BroadcastType::COL ? 2 : uint8_t(broadcast);
    return c;
}

constexpr Config config(Fpu op) {
    Config c;
    c.op = op;
    return c;
}

}  // namespace lb
