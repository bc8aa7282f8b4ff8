// Times of the tile core's operations on this machine, one core, ordinary bf16 data.
//
//   N=harness/emulator/native; mkdir -p build
//   g++ -std=c++17 -O2 -march=native -Wno-psabi -I $N benchmarks/tile_ops.cpp $N/tile/*.cpp -o build/tile_ops
//   build/tile_ops
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>

#include "tile/sfpu.h"

using namespace lb::tile;

namespace {

SrcTile random_tile(unsigned seed) {
    SrcTile tile;
    std::mt19937 bits(seed);
    std::normal_distribution<float> normal;
    for (uint32_t& word : tile.word) {
        const float x = normal(bits);
        std::memcpy(&word, &x, 4);
        word &= 0xFFFF0000;
    }
    tile.format = Format::Float16_b;
    return tile;
}

// Microseconds of one call, the best of many short runs.
template <class Op>
double microseconds(Op op) {
    using Clock = std::chrono::steady_clock;
    constexpr int kRuns = 300, kCalls = 20;
    double best = 1e9;
    for (int run = 0; run < kRuns; run++) {
        const auto start = Clock::now();
        for (int call = 0; call < kCalls; call++) op();
        best = std::min(best, std::chrono::duration<double, std::micro>(Clock::now() - start).count() / kCalls);
    }
    return best;
}

template <class Op>
void line(const char* name, Op op) {
    std::printf("%-24s", name);
    for (const DestWidth width : {DestWidth::Bits16, DestWidth::Bits32})
        std::printf("%10.2f", microseconds([&] { op(width); }));
    std::printf("\n");
}

}  // namespace

int main() {
    static SrcTile a = random_tile(1), b = random_tile(2);
    static DestTile d, e;
    static uint8_t l1[4096];
    std::memcpy(e.word, b.word, sizeof e.word);
    const auto fresh = [&] { std::memcpy(d.word, a.word, sizeof d.word); };

    std::printf("us per 32x32 tile%17s%10s\n", "16-bit", "32-bit");
    const char* matmuls[] = {"matmul LoFi", "matmul HiFi2", "matmul HiFi3", "matmul HiFi4"};
    for (int f = 1; f <= 4; f++) {
        line(matmuls[f - 1], [&](DestWidth w) { clear(d), matmul(d, a, b, Fidelity(f), w); });
    }
    line("add", [&](DestWidth w) { binary(Binary::Add, d, a, b, Broadcast::None, Fidelity::LoFi, w); });
    line("mul LoFi", [&](DestWidth w) { clear(d), binary(Binary::Mul, d, a, b, Broadcast::None, Fidelity::LoFi, w); });
    line("mul HiFi4", [&](DestWidth w) { clear(d), binary(Binary::Mul, d, a, b, Broadcast::Col, Fidelity::HiFi4, w); });
    line("copy", [&](DestWidth w) { copy(d, a, w); });
    line("transpose", [&](DestWidth) { transpose(d); });
    line("reduce sum row HiFi4",
         [&](DestWidth w) { clear(d), reduce(Pool::Sum, Dim::Row, d, a, b, Fidelity::HiFi4, w); });
    line("reduce sum col HiFi4",
         [&](DestWidth w) { clear(d), reduce(Pool::Sum, Dim::Col, d, a, b, Fidelity::HiFi4, w); });
    line("reduce max row", [&](DestWidth w) { clear(d), reduce(Pool::Max, Dim::Row, d, a, b, Fidelity::HiFi4, w); });
    line("exp", [&](DestWidth w) { fresh(), exp(d, w); });
    line("exp approx", [&](DestWidth w) { fresh(), exp(d, w, {true}); });
    line("recip", [&](DestWidth w) { fresh(), recip(d, w); });
    line("rsqrt", [&](DestWidth w) { fresh(), abs(d, w), rsqrt(d, w); });
    line("sigmoid", [&](DestWidth w) { fresh(), sigmoid(d, w); });
    line("silu", [&](DestWidth w) { fresh(), silu(d, w); });
    line("square", [&](DestWidth w) { fresh(), square(d, w); });
    line("mul_unary", [&](DestWidth w) { fresh(), unary(Unary::Mul, d, w, 0.5f); });
    line("mul_binary", [&](DestWidth w) { fresh(), sfpu_binary(SfpuBinary::Mul, d, d, e, w); });
    line("max_binary", [&](DestWidth w) { fresh(), sfpu_binary(SfpuBinary::Max, d, d, e, w); });
    line("sfpu_reduce sum row", [&](DestWidth w) { fresh(), sfpu_reduce(Pool::Sum, Dim::Row, d, w); });

    fresh();
    for (const Format f : {Format::Float16_b, Format::Float32, Format::Bfp8_b, Format::Bfp4_b}) {
        const int number = int(f);
        char name[32];
        std::snprintf(name, sizeof name, "pack to format %d", number);
        line(name, [&](DestWidth w) { pack(l1, d, w, pack_format(f, w), f); });
        std::snprintf(name, sizeof name, "unpack format %d", number);
        line(name, [&](DestWidth w) { unpack(a, l1, f, src_format(f, w)); });
    }
}
