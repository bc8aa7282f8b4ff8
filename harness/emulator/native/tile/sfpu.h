// The SFPU on tiles in DEST, op by op as the LLK library computes them.
//
// Datums are fp32 inside; a store to 16-bit DEST truncates to bf16 (most ops round to nearest themselves before), and
// every store turns denormals into zero of the same sign. Approximation modes follow the template parameters of the
// compute API. Results are those of the code paths without SFPLOADMACRO.
#pragma once

#include "fpu.h"

namespace lb::tile {

// Which faces a unary op works on: R the upper two, C the left two, RC all four.
enum class VectorMode : uint8_t { R, C, RC };

// Exponential. `approx` is exp_tile<true> (clamped below at -88.5 if `clamp`); scale is the bf16 factor of scale_en.
struct ExpMode {
    bool approx = false;
    bool clamp = true;
    float scale = 1.0f;
};
void exp(DestTile& dest, DestWidth width, ExpMode mode = {}, VectorMode span = VectorMode::RC);

void recip(DestTile& dest, DestWidth width, bool approx = false, VectorMode span = VectorMode::RC);
void sqrt(DestTile& dest, DestWidth width, bool approx = false, VectorMode span = VectorMode::RC);
void rsqrt(DestTile& dest, DestWidth width, bool approx = false, VectorMode span = VectorMode::RC);
void sigmoid(DestTile& dest, DestWidth width, bool approx = false, VectorMode span = VectorMode::RC);
void silu(DestTile& dest, DestWidth width, VectorMode span = VectorMode::RC);
void square(DestTile& dest, DestWidth width, VectorMode span = VectorMode::RC);
void abs(DestTile& dest, DestWidth width, VectorMode span = VectorMode::RC);
void negative(DestTile& dest, DestWidth width, VectorMode span = VectorMode::RC);
void relu(DestTile& dest, DestWidth width, VectorMode span = VectorMode::RC);
void fill(DestTile& dest, DestWidth width, float value, VectorMode span = VectorMode::RC);

// dest op scalar: add_unary_tile, sub_unary_tile, rsub_unary_tile, mul_unary_tile (div_unary_tile passes 1/scalar).
enum class Unary : uint8_t { Add, Sub, Rsub, Mul };
void unary(Unary op, DestTile& dest, DestWidth width, float scalar, VectorMode span = VectorMode::RC);

// Two DEST tiles to one; `out` may be either input.
enum class SfpuBinary : uint8_t { Add, Sub, Rsub, Mul, Div, Max, Min };
void sfpu_binary(SfpuBinary op, DestTile& out, const DestTile& a, const DestTile& b, DestWidth width);

// sfpu_reduce on floats: Row leaves each row's result in column 0, Col each column's in row 0. Avg divides by 32.
void sfpu_reduce(Pool pool, Dim dim, DestTile& dest, DestWidth width);

// typecast_tile between the formats circular buffers carry. The same format on both sides is a copy.
void typecast(DestTile& dest, DestWidth width, Format from, Format to);

}  // namespace lb::tile
