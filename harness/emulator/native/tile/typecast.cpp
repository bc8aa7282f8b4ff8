#include "lanes.h"
#include "sfpu.h"

namespace lb::tile {
namespace {

using namespace sfpu;

enum class Kind { Float, UInt16, UInt32, Int32 };

Kind kind_of(Format f) {
    switch (f) {
        case Format::UInt16:
            return Kind::UInt16;
        case Format::UInt32:
            return Kind::UInt32;
        case Format::Int32:
            return Kind::Int32;
        default:
            return Kind::Float;
    }
}

// A UInt16 lies raw in 16-bit DEST. In 32-bit DEST it arrives in the low half and leaves, for the packer, raw in the
// high half.
LB_INLINE U32 load_u16(U32 x, DestWidth width) { return width == DestWidth::Bits32 ? x & 0xFFFF : raw16(x); }
LB_INLINE U32 store_u16(U32 x) { return from_raw16(x) | x >> 16; }

// fp32 to an integer, towards zero, saturating.
LB_INLINE U32 to_int32(U32 x) {
    const I32 e = exponent(x) - 127;
    U32 r = shift((x & kFraction) | kHidden, e - 23);
    r = e < 0 ? U32{} : e >= 31 ? splat(kSign) : r;
    const U32 positive = is_negative(r) ? r - 1 : r;
    return is_negative(x) ? -r : positive;
}

LB_INLINE U32 to_uint32(U32 x) {
    const I32 e = exponent(x) - 127;
    const U32 r = shift((x & kFraction) | kHidden, e - 23);
    return (is_negative(x) | (e < 0)) ? U32{} : e >= 32 ? splat(~0u) : r;
}

LB_INLINE U32 to_uint16(U32 x) { return round_int(greater(x, U32{}), 65535, false); }

LB_INLINE U32 from_int32(U32 x) {
    const U32 magnitude = is_negative(x) ? -x : x;
    const U32 r = (from_int(magnitude) & ~kSign) | (x & kSign);
    return is_negative(magnitude) ? add(r, number(-2147483648.0f)) : r;
}

// To bf16 the high bit is added after a first rounding; to fp32 two exact halves are added with one.
LB_INLINE U32 from_uint32_bf16(U32 x) {
    const U32 low = from_int(x & ~kSign);
    return round_bf16(is_negative(x) ? add(low, number(2147483648.0f)) : low);
}
LB_INLINE U32 from_uint32_fp32(U32 x) {
    const U32 low = number(8388608.0f) | (x & kFraction);
    return mad(add(from_int(x >> 23), number(-1.0f)), number(8388608.0f), low);
}

template <class Op>
LB_INLINE void each(DestTile& dest, Op op) {
    for (int i = 0; i < kTileDatums; i += kLanes) store(dest.word + i, op(load(dest.word + i)));
    dest.written = ~uint64_t(0);
}

}  // namespace

void typecast(DestTile& dest, DestWidth width, Format from, Format to) {
    const Kind a = kind_of(from), b = kind_of(to);
    if (a == b) {
        // Between floats the packer does the work, but Float32 to Float16_b is rounded to even here.
        if (from == Format::Float32 && to == Format::Float16_b) {
            each(dest, [](U32 x) LB_LAMBDA { return flush_keep_sign(round_bf16_even(x)); });
        }
        return;
    }
    const auto narrow = [&](U32 x) LB_LAMBDA {
        x = flush_keep_sign(x);
        return width == DestWidth::Bits16 ? x & 0xFFFF0000u : x;
    };
    const bool fp32 = to == Format::Float32;
    if (a == Kind::Float) {
        if (b == Kind::UInt16) return each(dest, [](U32 x) LB_LAMBDA { return store_u16(to_uint16(x)); });
        if (b == Kind::UInt32) return each(dest, [](U32 x) LB_LAMBDA { return to_uint32(x); });
        return each(dest, [](U32 x) LB_LAMBDA { return to_int32(x); });
    }
    if (b == Kind::Float) {
        return each(dest, [&](U32 x) LB_LAMBDA {
            if (a == Kind::UInt16) {
                const U32 r = from_int(load_u16(x, width));
                return fp32 ? r : round_bf16(r);
            }
            if (a == Kind::UInt32) return fp32 ? from_uint32_fp32(x) : from_uint32_bf16(x);
            const U32 r = from_int32(x);
            return narrow(fp32 ? r : round_bf16(r));
        });
    }
    if (a == Kind::UInt16) return each(dest, [](U32 x) LB_LAMBDA { return x & 0xFFFF; });
    if (b == Kind::UInt16) {
        return each(dest, [&](U32 x) LB_LAMBDA {
            if (a == Kind::UInt32) return store_u16(x | (U32)(order(x >> 16) > 0));
            return store_u16(to_uint16(from_int(x)));
        });
    }
}

}  // namespace lb::tile
