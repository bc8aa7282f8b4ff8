#include "sfpu.h"

#include "sfpu_math.h"

namespace lb::tile {
namespace {

using namespace sfpu;

LB_INLINE U32 stored(U32 x, DestWidth width) {
    x = flush_keep_sign(x);
    return width == DestWidth::Bits16 ? x & 0xFFFF0000u : x;
}

bool covers(VectorMode span, int face) {
    return span == VectorMode::RC || (span == VectorMode::R ? face < 2 : face % 2 == 0);
}

template <class Op>
LB_INLINE void each(DestTile& dest, VectorMode span, Op op) {
    for (int face = 0; face < 4; face++) {
        if (!covers(span, face)) continue;
        for (int i = face * kFaceDatums; i < (face + 1) * kFaceDatums; i += kLanes) {
            store(dest.word + i, op(load(dest.word + i)));
        }
        dest.written |= uint64_t(0xFFFF) << face * kFaceDim;
    }
}

// A function with one form for each width of DEST.
template <class Op16, class Op32>
LB_INLINE void each(DestTile& dest, DestWidth width, VectorMode span, Op16 op16, Op32 op32) {
    if (width == DestWidth::Bits16) {
        each(dest, span, [&](U32 x) LB_LAMBDA { return stored(op16(x), DestWidth::Bits16); });
    } else {
        each(dest, span, [&](U32 x) LB_LAMBDA { return stored(op32(x), DestWidth::Bits32); });
    }
}

template <class Op>
LB_INLINE void each(DestTile& dest, DestWidth width, VectorMode span, Op op) {
    each(dest, width, span, op, op);
}

}  // namespace

void exp(DestTile& dest, DestWidth width, ExpMode mode, VectorMode span) {
    if (mode.approx) {
        return each(dest, width, span, [&](U32 x) LB_LAMBDA { return exp_approx(x, mode.scale, mode.clamp); });
    }
    const bool scaled = mode.scale != 1.0f;
    const auto scale = [&](U32 x) LB_LAMBDA { return scaled ? mul(x, number(mode.scale)) : x; };
    each(
        dest, width, span, [&](U32 x) LB_LAMBDA { return exp_21f_masked(scale(x)); },
        [&](U32 x) LB_LAMBDA { return exp_fp32(scale(x)); });
}

void recip(DestTile& dest, DestWidth width, bool approx, VectorMode span) {
    if (approx) return each(dest, width, span, [](U32 x) LB_LAMBDA { return approximate_reciprocal(x); });
    each(
        dest, width, span, [](U32 x) LB_LAMBDA { return reciprocal_bf16(x); },
        [](U32 x) LB_LAMBDA { return reciprocal_fp32(x); });
}

void sqrt(DestTile& dest, DestWidth width, bool approx, VectorMode span) {
    each(
        dest, width, span, [&](U32 x) LB_LAMBDA { return round_bf16(root(x, false, approx)); },
        [&](U32 x) LB_LAMBDA { return root(x, false, approx); });
}

void rsqrt(DestTile& dest, DestWidth width, bool approx, VectorMode span) {
    each(
        dest, width, span, [&](U32 x) LB_LAMBDA { return round_bf16(root(x, true, approx)); },
        [&](U32 x) LB_LAMBDA { return root(x, true, approx); });
}

void sigmoid(DestTile& dest, DestWidth width, bool approx, VectorMode span) {
    if (approx) return each(dest, width, span, [](U32 x) LB_LAMBDA { return sigmoid_approx(x); });
    each(
        dest, width, span, [](U32 x) LB_LAMBDA { return round_bf16(sigmoid_16(x)); },
        [](U32 x) LB_LAMBDA { return sigmoid_32(x); });
}

void silu(DestTile& dest, DestWidth width, VectorMode span) {
    each(
        dest, width, span, [](U32 x) LB_LAMBDA { return round_bf16(mul(x, sigmoid_16(x))); },
        [](U32 x) LB_LAMBDA { return mul(x, sigmoid_32(x)); });
}

void square(DestTile& dest, DestWidth width, VectorMode span) {
    each(
        dest, width, span, [](U32 x) LB_LAMBDA { return round_bf16_even(mul(x, x)); },
        [](U32 x) LB_LAMBDA { return mul(x, x); });
}

void abs(DestTile& dest, DestWidth width, VectorMode span) {
    each(dest, width, span, [](U32 x) LB_LAMBDA { return x > (kSign | kInf) ? x : x & ~kSign; });
}

void negative(DestTile& dest, DestWidth width, VectorMode span) {
    each(dest, width, span, [](U32 x) LB_LAMBDA { return negate(x); });
}

void relu(DestTile& dest, DestWidth, VectorMode span) {
    // Only lanes below zero are stored; the others keep even a denormal.
    each(dest, span, [](U32 x) LB_LAMBDA { return greater(x, U32{}); });
}

void fill(DestTile& dest, DestWidth width, float value, VectorMode span) {
    each(dest, width, span, [&](U32) LB_LAMBDA { return number(value); });
}

void unary(Unary op, DestTile& dest, DestWidth width, float scalar, VectorMode span) {
    const U32 s = number(scalar);
    switch (op) {
        case Unary::Add:
            return each(dest, width, span, [&](U32 x) LB_LAMBDA { return add(x, s); });
        case Unary::Sub:
            return each(dest, width, span, [&](U32 x) LB_LAMBDA { return sub(x, s); });
        case Unary::Mul:
            return each(dest, width, span, [&](U32 x) LB_LAMBDA { return mul(x, s); });
        case Unary::Rsub:
            return each(
                dest, width, span, [&](U32 x) LB_LAMBDA { return round_bf16_even(sub(s, x)); },
                [&](U32 x) LB_LAMBDA { return sub(s, x); });
    }
}

namespace {

template <class Op>
LB_INLINE void each_pair(DestTile& out, const DestTile& a, const DestTile& b, DestWidth width, Op op) {
    for (int i = 0; i < kTileDatums; i += kLanes) {
        store(out.word + i, stored(op(load(a.word + i), load(b.word + i)), width));
    }
    out.written = ~uint64_t(0);
}

}  // namespace

void sfpu_binary(SfpuBinary op, DestTile& out, const DestTile& a, const DestTile& b, DestWidth width) {
    const bool narrow = width == DestWidth::Bits16;
    switch (op) {
        case SfpuBinary::Add:
            return each_pair(out, a, b, width, [](U32 x, U32 y) LB_LAMBDA { return add(x, y); });
        case SfpuBinary::Sub:
            return each_pair(out, a, b, width, [](U32 x, U32 y) LB_LAMBDA { return sub(x, y); });
        case SfpuBinary::Rsub:
            return each_pair(out, a, b, width, [](U32 x, U32 y) LB_LAMBDA { return sub(y, x); });
        case SfpuBinary::Max:
            return each_pair(out, a, b, width, [](U32 x, U32 y) LB_LAMBDA { return greater(x, y); });
        case SfpuBinary::Min:
            return each_pair(out, a, b, width, [](U32 x, U32 y) LB_LAMBDA { return lesser(x, y); });
        case SfpuBinary::Mul:
            return each_pair(out, a, b, width, [&](U32 x, U32 y) LB_LAMBDA {
                const U32 product = mul(x, y);
                return narrow ? (((x == 0) | (y == 0)) ? U32{} : round_bf16_even(product)) : product;
            });
        case SfpuBinary::Div:
            if (narrow) return each_pair(out, a, b, width, [](U32 x, U32 y) LB_LAMBDA { return divide_16(x, y); });
            return each_pair(out, a, b, width, [](U32 x, U32 y) LB_LAMBDA { return divide_32(x, y); });
    }
}

namespace {

// The first `Count` values summed from the last to the first.
LB_INLINE U32 chain(const U32* x, int stride, int count) {
    U32 total = x[(count - 1) * stride];
    for (int i = count - 2; i >= 0; i--) total = add(x[i * stride], total);
    return total;
}

// Sum of 32 columns of one or more rows, a row in each lane: even and odd columns of both faces, then a butterfly.
LB_INLINE U32 sum_across(const U32 (&column)[32]) {
    U32 x[8], y[8];
    for (int i = 0; i < 8; i++) {
        const U32 parts[] = {column[2 * i], column[2 * i + 1], column[16 + 2 * i], column[17 + 2 * i]};
        x[i] = chain(parts, 1, 4);
    }
    for (int i = 0; i < 8; i++) y[i] = add(x[i], x[(i + 4) % 8]);
    return add(add(y[0], y[6]), add(y[7], y[5]));
}

// Sum of 32 rows, a column in each lane: every fourth row of a face, both faces, then the four partial sums.
LB_INLINE U32 sum_down(const U32 (&row)[32]) {
    U32 partial[4];
    for (int i = 0; i < 4; i++) partial[i] = add(chain(row + i, 4, 4), chain(row + 16 + i, 4, 4));
    return chain(partial, 1, 4);
}

LB_INLINE U32 greatest(const U32 (&x)[32]) {
    U32 best = x[0];
    for (int i = 1; i < 32; i++) best = greater(best, x[i]);
    return best;
}

}  // namespace

void sfpu_reduce(Pool pool, Dim dim, DestTile& dest, DestWidth width) {
    // Rows reduce like columns of the transposed tile, in another order.
    const bool rows = dim == Dim::Row;
    if (rows) transpose(dest);
    for (int col = 0; col < 2 * kFaceDim; col += kLanes) {
        uint32_t* top = dest.word + col / kFaceDim * kFaceDatums + col % kFaceDim;
        U32 x[32];
        for (int i = 0; i < 32; i++) x[i] = load(top + i / kFaceDim * 2 * kFaceDatums + i % kFaceDim * kFaceDim);
        U32 r = pool == Pool::Max ? greatest(x) : rows ? sum_across(x) : sum_down(x);
        if (pool == Pool::Avg) r = mul(r, number(1.0f / 32));
        store(top, stored(r, width));
    }
    if (rows) transpose(dest);
    dest.written = ~uint64_t(0);
}

}  // namespace lb::tile
