#include "dot.h"
#include "fpu.h"

namespace lb::tile {
namespace {

constexpr int kRows = 8;  // computed side by side

template <bool kFp32, bool kExact>
void multiply(DestTile& dest, const Operand& in1, const Operand& in0, int phases) {
    for (int half = 0; half < 2; half++) {
        for (int row = 0; row < kFaceDim; row += kRows) {
            const int left = half * 2 * kFaceDatums + row * kFaceDim;  // in row `row` of the left face of in0 and DEST
            for (int col = 0; col < 2 * kFaceDim; col += kLanes) {
                const int column = col / kFaceDim * kFaceDatums + col % kFaceDim;
                const Step steps[] = {{column, left}, {column + 2 * kFaceDatums, left + kFaceDatums}};
                U32 d[kRows];
                for (int r = 0; r < kRows; r++) d[r] = load(dest.word + left + column + r * kFaceDim);
                dot<kFp32>(d, in1, in0, steps, phases, kExact);
                for (int r = 0; r < kRows; r++) store(dest.word + left + column + r * kFaceDim, d[r]);
            }
        }
    }
}

}  // namespace

void matmul(DestTile& dest, const SrcTile& in0, const SrcTile& in1, Fidelity fidelity, DestWidth width) {
    Operand a, b;
    split<true>(a, in1);
    split<false>(b, in0);
    const int phases = int(fidelity);
    const bool wide = width == DestWidth::Bits32;
    if (in_float_range(in1, in0)) {
        wide ? multiply<true, false>(dest, a, b, phases) : multiply<false, false>(dest, a, b, phases);
    } else {
        wide ? multiply<true, true>(dest, a, b, phases) : multiply<false, true>(dest, a, b, phases);
    }
    dest.written = ~uint64_t(0);
}

}  // namespace lb::tile
