// C entry points to the tile core for the tests: tiles travel as plain arrays of 1024 words in face order.
#include <cstring>

#include "lanes.h"
#include "sfpu.h"

using namespace lb::tile;

namespace {

struct Src : SrcTile {
    Src(const uint32_t* words, int fmt) {
        std::memcpy(word, words, sizeof word);
        format = Format(fmt);
    }
};

// DEST as 1024 words and the mark of the rows written.
struct Dest : DestTile {
    uint32_t* out;
    uint64_t* mark;
    Dest(uint32_t* words, uint64_t* rows) : out(words), mark(rows) {
        std::memcpy(word, words, sizeof word);
        written = *rows;
    }
    ~Dest() {
        std::memcpy(out, word, sizeof word);
        *mark = written;
    }
};

}  // namespace

extern "C" {

int t_tile_bytes(int fmt) { return int(tile_bytes(Format(fmt))); }
int t_src_format(int cb, int width) { return int(src_format(Format(cb), DestWidth(width))); }
int t_pack_format(int out, int width, int precise) { return int(pack_format(Format(out), DestWidth(width), precise)); }
int t_first_poisoned(const void* l1, int cb) { return first_poisoned(l1, Format(cb)); }

void t_unpack(uint32_t* words, const void* l1, int cb, int reg) {
    SrcTile s;
    unpack(s, l1, Format(cb), Format(reg));
    std::memcpy(words, s.word, sizeof s.word);
}

void t_unpack_to_dest(uint32_t* dest, uint64_t* rows, const void* l1) {
    Dest d(dest, rows);
    unpack_to_dest(d, l1);
}

void t_pack(void* l1, uint32_t* dest, int width, int via, int out, int mask, int accumulate) {
    uint64_t rows = 0;
    Dest d(dest, &rows);
    (accumulate ? pack_accumulate : pack)(l1, d, DestWidth(width), Format(via), Format(out), PackMask(mask));
}

void t_matmul(uint32_t* dest, uint64_t* rows, const uint32_t* in0, const uint32_t* in1, int fidelity, int width) {
    Dest d(dest, rows);
    const Src a(in0, 5), b(in1, 5);
    matmul(d, a, b, Fidelity(fidelity), DestWidth(width));
}

void t_binary(int op, uint32_t* dest, uint64_t* rows, const uint32_t* a, const uint32_t* b, int broadcast, int fidelity,
              int width, int accumulate) {
    Dest d(dest, rows);
    const Src x(a, 5), y(b, 5);
    binary(Binary(op), d, x, y, Broadcast(broadcast), Fidelity(fidelity), DestWidth(width), accumulate);
}

void t_binary_reuse(int op, uint32_t* dest, uint64_t* rows, const uint32_t* other, int fmt, int reuse, int fidelity,
                    int width) {
    Dest d(dest, rows);
    const Src x(other, fmt);
    binary_reuse_dest(Binary(op), d, x, Reuse(reuse), Broadcast::None, Fidelity(fidelity), DestWidth(width));
}

void t_reduce(int pool, int dim, uint32_t* dest, uint64_t* rows, const uint32_t* in, const uint32_t* scaler, int fmt,
              int fidelity, int width) {
    Dest d(dest, rows);
    const Src x(in, fmt), s(scaler, fmt);
    reduce(Pool(pool), Dim(dim), d, x, s, Fidelity(fidelity), DestWidth(width));
}

void t_copy(uint32_t* dest, uint64_t* rows, const uint32_t* a, int fmt, int width, int broadcast) {
    Dest d(dest, rows);
    const Src x(a, fmt);
    broadcast ? copy_broadcast(d, x, Broadcast(broadcast), DestWidth(width)) : copy(d, x, DestWidth(width));
}

void t_transpose(uint32_t* words) {
    Src s(words, 5);
    transpose(s);
    std::memcpy(words, s.word, sizeof s.word);
}

void t_sfpu(const char* op, uint32_t* dest, uint64_t* rows, int width_, int approx, float scalar, int span_) {
    Dest d(dest, rows);
    const DestWidth width = DestWidth(width_);
    const VectorMode span = VectorMode(span_);
    const auto is = [&](const char* name) { return !std::strcmp(op, name); };
    if (is("exp")) return exp(d, width, {bool(approx), approx != 2, scalar}, span);
    if (is("recip")) return recip(d, width, approx, span);
    if (is("sqrt")) return sqrt(d, width, approx, span);
    if (is("rsqrt")) return rsqrt(d, width, approx, span);
    if (is("sigmoid")) return sigmoid(d, width, approx, span);
    if (is("silu")) return silu(d, width, span);
    if (is("square")) return square(d, width, span);
    if (is("abs")) return abs(d, width, span);
    if (is("negative")) return negative(d, width, span);
    if (is("relu")) return relu(d, width, span);
    if (is("fill")) return fill(d, width, scalar, span);
    if (is("add")) return unary(Unary::Add, d, width, scalar, span);
    if (is("sub")) return unary(Unary::Sub, d, width, scalar, span);
    if (is("rsub")) return unary(Unary::Rsub, d, width, scalar, span);
    if (is("mul")) return unary(Unary::Mul, d, width, scalar, span);
    __builtin_trap();
}

void t_sfpu_binary(int op, uint32_t* dest, uint64_t* rows, uint32_t* other, int width) {
    uint64_t ignored = 0;
    Dest d(dest, rows), o(other, &ignored);
    sfpu_binary(SfpuBinary(op), d, d, o, DestWidth(width));
}

void t_sfpu_reduce(int pool, int dim, uint32_t* dest, uint64_t* rows, int width) {
    Dest d(dest, rows);
    sfpu_reduce(Pool(pool), Dim(dim), d, DestWidth(width));
}

// The SFPU's multiply-add of `count` triples, a multiple of 16; `integers` takes the long way.
void t_mad(uint32_t* out, const uint32_t* a, const uint32_t* b, const uint32_t* c, int count, int integers) {
    for (int i = 0; i < count; i += kLanes) {
        const U32 x = load(a + i), y = load(b + i), z = load(c + i);
        store(out + i, integers ? sfpu::mad_on_integers(x, y, z) : sfpu::mad(x, y, z));
    }
}

void t_typecast(uint32_t* dest, uint64_t* rows, int width, int from, int to) {
    Dest d(dest, rows);
    typecast(d, DestWidth(width), Format(from), Format(to));
}
}
