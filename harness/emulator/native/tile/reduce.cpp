#include "dot.h"
#include "fpu.h"

namespace lb::tile {
namespace {

constexpr uint64_t kLeftRows = 0x0000FFFF0000FFFF, kTopRows = 0x00010001;  // rows of faces 0 and 2; row 0 of 0 and 1

// Row 0 of each face of a scaler tile, which is all that counts.
SrcTile scaler_rows(const SrcTile& scaler) {
    SrcTile out{};
    out.format = scaler.format;
    for (int face = 0; face < 4; face++) {
        std::memcpy(out.word + face * kFaceDatums, scaler.word + face * kFaceDatums, kFaceDim * 4);
    }
    return out;
}

// dest row (at index `at`) += the SrcB row times a face of SrcA, all phases.
template <bool kFp32, bool kExact>
void pool_row(uint32_t* dest, const Operand& a, const Operand& b, Step step, int phases) {
    for (int col = 0; col < kFaceDim; col += kLanes) {
        const Step steps[] = {{step.a + col, step.b}};
        U32 d[1] = {load(dest + col)};
        dot<kFp32>(d, a, b, steps, phases, kExact);
        store(dest + col, d[0]);
    }
}

// The tile times a matrix whose first column is the scaler (SrcA). Only column 0 of the product counts, so the rows of
// the tile, transposed, take the lanes.
template <bool kFp32, bool kExact>
void sum_rows(DestTile& dest, const SrcTile& in, const SrcTile& scaler, int phases) {
    SrcTile turned = in;
    transpose(turned);
    const SrcTile rows = scaler_rows(scaler);
    Operand data, scalers;
    split<false>(data, turned);
    split<true>(scalers, rows);
    for (int row = 0; row < 2 * kFaceDim; row += kLanes) {
        const int lane = row / kFaceDim * kFaceDatums + row % kFaceDim;  // in the top faces of the transposed tile
        uint32_t* column = dest.word + row / kFaceDim * 2 * kFaceDatums + row % kFaceDim * kFaceDim;
        const Step steps[] = {{lane, 0}, {lane + 2 * kFaceDatums, kFaceDatums}};
        U32 d[1];
        for (int i = 0; i < kLanes; i++) d[0][i] = column[i * kFaceDim];
        dot<kFp32>(d, data, scalers, steps, phases, kExact);
        for (int i = 0; i < kLanes; i++) column[i * kFaceDim] = d[0][i];
    }
    dest.written |= kLeftRows;
}

template <bool kFp32, bool kExact>
void sum_columns(DestTile& dest, const SrcTile& in, const SrcTile& scaler, int phases) {
    Operand a, b;
    split<true>(a, in);
    const SrcTile rows = scaler_rows(scaler);
    split<false>(b, rows);
    for (int face = 0; face < 4; face++) {
        const int at = face * kFaceDatums;
        pool_row<kFp32, kExact>(dest.word + face % 2 * kFaceDatums, a, b, {at, at}, phases);
    }
    dest.written |= kTopRows;
}

// What a DEST row keeps on its way to SrcB, in the format of the operand there.
uint32_t dest_to_src(uint32_t word, Format format) { return word & (format == Format::Tf32 ? 0xFFFFE000 : 0xFFFF0000); }

template <bool kFp32, bool kExact>
void sum_tile(DestTile& dest, const SrcTile& in, const SrcTile& scaler, int phases) {
    // Column sums of all faces meet in one scratch row, which then becomes a column of SrcA.
    Operand a, b;
    split<true>(a, in);
    const SrcTile rows = scaler_rows(scaler);
    split<false>(b, rows);
    alignas(64) uint32_t partial[kFaceDim];
    std::memcpy(partial, dest.word + 4 * kFaceDim, sizeof partial);
    for (int face = 0; face < 4; face++) {
        pool_row<kFp32, kExact>(partial, a, b, {face * kFaceDatums, face * kFaceDatums}, phases);
    }
    SrcTile column{};
    for (int k = 0; k < kFaceDim; k++) column.word[k * kFaceDim] = dest_to_src(partial[k], scaler.format);
    std::memset(dest.word + 4 * kFaceDim, 0, sizeof partial);
    split<true>(a, column);
    pool_row<kFp32, true>(dest.word, a, b, {0, 3 * kFaceDatums}, phases);
    dest.written |= 1;
}

template <bool kFp32, bool kExact>
void sum(Dim dim, DestTile& dest, const SrcTile& in, const SrcTile& scaler, int phases) {
    switch (dim) {
        case Dim::Row:
            return sum_rows<kFp32, kExact>(dest, in, scaler, phases);
        case Dim::Col:
            return sum_columns<kFp32, kExact>(dest, in, scaler, phases);
        case Dim::Scalar:
            return sum_tile<kFp32, kExact>(dest, in, scaler, phases);
    }
}

// Order of sign and magnitude: -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN.
int32_t order(uint32_t x) { return int32_t(x & kSign ? x ^ ~kSign : x); }

constexpr uint32_t kLowest = 0xFFFFE000;  // what a cleared row of DEST is to a max pool

struct MaxRow {
    uint32_t word[kFaceDim];

    MaxRow(const DestTile& dest, int row) {
        for (int i = 0; i < kFaceDim; i++) {
            word[i] = dest.written >> row & 1 ? dest.word[row * kFaceDim + i] & 0xFFFFE000 : kLowest;
        }
    }
    void take(int i, uint32_t x) {
        if ((x & kInf) == 0) x = 0;
        if (order(x) > order(word[i])) word[i] = x;
    }
};

// An addition to zero, through which row maxima come back to DEST as a column.
uint32_t through_adder(uint32_t x) {
    if ((x & kInf) == 0) return 0;
    return (x & kInf) == kInf ? x & (kSign | kInf) : x;
}

void max_rows(DestTile& dest, const SrcTile& in, Format scaler) {
    for (int half = 0; half < 2; half++) {
        const int left = half * 2 * kFaceDatums;
        MaxRow best(dest, left / kFaceDim);
        for (int row = 0; row < kFaceDim; row++) {
            for (int col = 0; col < kFaceDim; col++) best.take(row, in.word[left + row * kFaceDim + col]);
            for (int col = 0; col < kFaceDim; col++) best.take(row, in.word[left + kFaceDatums + row * kFaceDim + col]);
        }
        // Row 0 keeps all maxima too: a further tile is compared with it.
        for (int i = 0; i < kFaceDim; i++) {
            const uint32_t x = through_adder(dest_to_src(best.word[i], scaler));
            dest.word[left + i] = dest.word[left + i * kFaceDim] = x;
        }
    }
    dest.written |= kLeftRows;
}

void max_columns(DestTile& dest, const SrcTile& in) {
    for (int face = 0; face < 4; face++) {
        const int top = face % 2 * kFaceDim;
        MaxRow best(dest, top);
        for (int i = 0; i < kFaceDatums; i++) best.take(i % kFaceDim, in.word[face * kFaceDatums + i]);
        std::memcpy(dest.word + top * kFaceDim, best.word, sizeof best.word);
        dest.written |= uint64_t(1) << top;
    }
}

void max_tile(DestTile& dest, const SrcTile& in, Format scaler) {
    MaxRow columns(dest, 4), best(dest, 0);
    for (int i = 0; i < kTileDatums; i++) columns.take(i % kFaceDim, in.word[i]);
    for (int i = 0; i < kFaceDim; i++) best.take(0, dest_to_src(columns.word[i], scaler));
    dest.word[0] = best.word[0];
    std::memset(dest.word + 4 * kFaceDim, 0, kFaceDim * 4);
    dest.written = (dest.written | 1) & ~uint64_t(1 << 4);
}

}  // namespace

void reduce(Pool pool, Dim dim, DestTile& dest, const SrcTile& in, const SrcTile& scaler, Fidelity fidelity,
            DestWidth width) {
    if (pool == Pool::Max) {
        if (dim == Dim::Row) return max_rows(dest, in, scaler.format);
        if (dim == Dim::Col) return max_columns(dest, in);
        return max_tile(dest, in, scaler.format);
    }
    const bool wide = width == DestWidth::Bits32, fast = in_float_range(in, scaler);
    const auto run = wide ? fast ? sum<true, false> : sum<true, true> : fast ? sum<false, false> : sum<false, true>;
    run(dim, dest, in, scaler, int(fidelity));
}

}  // namespace lb::tile
