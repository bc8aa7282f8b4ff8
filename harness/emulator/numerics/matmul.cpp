// Matrix products as they lie in DEST, product by product. The rules are in fpu.py; this file is their fast form.
//
// Columns are the vector dimension. Plain loops over arrays of COLUMNS let the compiler vectorise for whatever it runs
// on.

#include <cmath>
#include <cstdint>
#include <cstring>

namespace {

constexpr int COLUMNS = 64;
constexpr int TILE = 32;
constexpr int GROUP = 8;  // products aligned to one another before they are summed
constexpr int ZERO_EXPONENT = -1000;
constexpr int MIN_EXPONENT = -100;
constexpr int PRODUCT_BITS = 10;
constexpr int PASS_EXPONENT[4] = {0, -5, -7, -12};

template <class To, class From>
inline To bits(From from) {
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

inline float cut(float value, int significand) {
    return bits<float>(bits<int32_t>(value) & -(1 << (24 - significand)));
}

inline int exponent(float value) {
    const int field = (bits<int32_t>(value) >> 23) & 0xFF;
    return field ? field - 127 : ZERO_EXPONENT;
}

// 16-bit DEST needs floats, 32-bit DEST doubles.
template <class Real>
struct Dest;

template <>
struct Dest<float> {
    static float power(int exponent) { return bits<float>((exponent + 127) << 23); }
    static int exponent(float value) { return ((bits<int32_t>(value) >> 23) & 0xFF) - 127; }
    static float rounded(float value) { return bits<float>((bits<int32_t>(value) + 0x8000) & -0x10000); }
    static constexpr float COARSE = 1 / 8192.0f;  // drops 13 of 23 bits
};

template <>
struct Dest<double> {
    static double power(int exponent) { return bits<double>(int64_t(exponent + 1023) << 52); }
    static int exponent(double value) { return int((bits<int64_t>(value) >> 52) & 0x7FF) - 1023; }
    static double rounded(double value) {
        return bits<double>((bits<int64_t>(value) + (int64_t(1) << 28)) & -(int64_t(1) << 29));
    }
};

inline float ties_away(float value) { return std::trunc(value + std::copysign(0.5f, value)); }
inline double ties_away(double value) { return std::trunc(value + std::copysign(0.5, value)); }

// Add two sums of eight to DEST.
template <class Real>
inline Real into_dest(Real dest, float sum0, int top0, float sum1, int top1) {
    using D = Dest<Real>;
    int top = D::exponent(dest);
    top = top > top0 ? top : top0;
    top = top > top1 ? top : top1;
    top = top > MIN_EXPONENT ? top : MIN_EXPONENT;
    Real unit = D::power(23 - top);
    Real total = ties_away(dest * unit);
    Real part0 = std::floor(Real(sum0) * unit + Real(0.5));
    Real part1 = std::floor(Real(sum1) * unit + Real(0.5));
    if constexpr (sizeof(Real) == sizeof(float)) {
        total = ties_away(total * D::COARSE);
        part0 = std::floor(part0 * D::COARSE + Real(0.5));
        part1 = std::floor(part1 * D::COARSE + Real(0.5));
        unit *= D::COARSE;
    }
    return D::rounded((total + part0 + part1) * (1 / unit));
}

struct Operand {
    float part[2];  // the top bits of the significand, and the bits that a later pass brings in
    int exponent;
};

inline Operand split(float value, int top_bits, int all_bits) {
    const float top = cut(value, top_bits);
    return {{top, cut(value, all_bits) - top}, exponent(value)};
}

template <class Real>
void columns(const float* b, const float* a, float* dest, int64_t rows, int64_t depth, int64_t width, int count,
             int passes) {
    static thread_local float a_part[2][TILE][COLUMNS];
    static thread_local int a_exponent[TILE][COLUMNS];
    Real* const sums = new Real[rows * COLUMNS]();
    for (int64_t m = 0; m < rows; ++m) {
        for (int n = 0; n < count; ++n) sums[m * COLUMNS + n] = dest[m * width + n];
    }
    std::memset(a_part, 0, sizeof a_part);
    std::memset(a_exponent, 0, sizeof a_exponent);
    for (int64_t tile = 0; tile < depth; tile += TILE) {
        for (int k = 0; k < TILE; ++k) {
            for (int n = 0; n < count; ++n) {
                const Operand x = split(a[(tile + k) * width + n], 5, 10);
                a_part[0][k][n] = x.part[0];
                a_part[1][k][n] = x.part[1];
                a_exponent[k][n] = x.exponent;
            }
        }
        for (int64_t m = 0; m < rows; ++m) {
            Operand row[TILE];
            for (int k = 0; k < TILE; ++k) row[k] = split(b[m * depth + tile + k], 7, 11);
            int top[TILE / GROUP][COLUMNS];
            for (int g = 0; g < TILE / GROUP; ++g) {
                for (int n = 0; n < COLUMNS; ++n) top[g][n] = MIN_EXPONENT - PASS_EXPONENT[3];
                for (int k = g * GROUP; k < (g + 1) * GROUP; ++k) {
                    for (int n = 0; n < COLUMNS; ++n) {
                        const int own = a_exponent[k][n] + row[k].exponent;
                        top[g][n] = own > top[g][n] ? own : top[g][n];
                    }
                }
            }
            Real* const out = sums + m * COLUMNS;
            for (int pass = 0; pass < passes; ++pass) {
                const float (*part)[COLUMNS] = a_part[pass & 1];
                for (int half = 0; half < 2; ++half) {
                    float sum[2][COLUMNS];
                    for (int i = 0; i < 2; ++i) {
                        const int g = 2 * half + i;
                        float unit[COLUMNS], total[COLUMNS] = {};
                        for (int n = 0; n < COLUMNS; ++n) {
                            unit[n] = Dest<float>::power(PRODUCT_BITS - top[g][n] - PASS_EXPONENT[pass]);
                        }
                        for (int k = g * GROUP; k < (g + 1) * GROUP; ++k) {
                            const float factor = row[k].part[pass >> 1];
                            for (int n = 0; n < COLUMNS; ++n) total[n] += ties_away(part[k][n] * factor * unit[n]);
                        }
                        for (int n = 0; n < COLUMNS; ++n) sum[i][n] = total[n] / unit[n];
                    }
                    const int shift = PASS_EXPONENT[pass];
                    for (int n = 0; n < COLUMNS; ++n) {
                        out[n] = into_dest<Real>(out[n], sum[0][n], top[2 * half][n] + shift, sum[1][n],
                                                 top[2 * half + 1][n] + shift);
                    }
                }
            }
        }
    }
    for (int64_t m = 0; m < rows; ++m) {
        for (int n = 0; n < count; ++n) dest[m * width + n] = float(sums[m * COLUMNS + n]);
    }
    delete[] sums;
}

}  // namespace

// dest [batch, rows, width] += b [batch, rows, depth] @ a [batch, depth, width], blocks of columns [first, last) of all
// batches together. depth is a multiple of the tile.
extern "C" void matmul(const float* b, const float* a, float* dest, int64_t rows, int64_t depth, int64_t width,
                       int passes, int wide, int64_t first, int64_t last) {
    const int64_t blocks = (width + COLUMNS - 1) / COLUMNS;
    for (int64_t block = first; block < last; ++block) {
        const int64_t i = block / blocks, column = block % blocks * COLUMNS;
        const int count = int(width - column < COLUMNS ? width - column : COLUMNS);
        auto* run = wide ? columns<double> : columns<float>;
        run(b + i * rows * depth, a + i * depth * width + column, dest + i * rows * width + column, rows, depth, width,
            count, passes);
    }
}
