// The math thread: FPU and SFPU work on DEST, and DEST's states between math and pack.
#include "fault.h"
#include "tensix.h"

namespace lb {

void check_init(const Init& init, const Config& config, const Block& block, const char* thread);

const char* op_name(Sfpu op) {
    static const char* names[] = {"none",
                                  "exp",
                                  "recip",
                                  "rsqrt",
                                  "sqrt",
                                  "silu",
                                  "sigmoid",
                                  "square",
                                  "abs",
                                  "negative",
                                  "relu",
                                  "fill",
                                  "scalar op",
                                  "copy_dest",
                                  "typecast",
                                  "add_binary",
                                  "sub_binary",
                                  "rsub_binary",
                                  "mul_binary",
                                  "div_binary",
                                  "binary_max",
                                  "binary_min",
                                  "sfpu_reduce max",
                                  "sfpu_reduce sum"};
    return names[int(op)];
}

namespace {

void check_dst(Thread& t, uint32_t dst, const char* what) {
    const Tensix& x = *t.core->tensix;
    if (!x.math_started) fault("tile-registers", format("%s before compute_kernel_hw_startup", what));
    if (!x.math_owns) fault("tile-registers", format("%s writes DEST without tile_regs_acquire()", what));
    if (dst >= x.capacity())
        fault("tile-registers", format("%s to DEST tile %u; with %s DEST and %s sync there are %u", what, dst,
                                       x.width == tile::DestWidth::Bits32 ? "fp32" : "16-bit",
                                       x.full_sync ? "full" : "half", x.capacity()));
}

tile::DestTile& dest_tile(Tensix& x, uint32_t dst) { return x.dest[x.math_section][dst]; }

// SFPU operations work on what is there.
tile::DestTile& filled_tile(Thread& t, uint32_t dst, const char* what) {
    check_dst(t, dst, what);
    tile::DestTile& d = dest_tile(*t.core->tensix, dst);
    if (!d.written)
        fault("uninitialised-read",
              format("%s of DEST tile %u, which nothing has written since it was released", what, dst));
    return d;
}

tile::VectorMode span_of(uint8_t span) {
    return span == 1 ? tile::VectorMode::R : span == 2 ? tile::VectorMode::C : tile::VectorMode::RC;
}

void run_fpu(Tensix& x, const Sources& s, const Config& c, uint32_t dst, tile::Fidelity fidelity) {
    const auto w = x.width;
    tile::DestTile& d = dest_tile(x, dst);
    const auto broadcast = tile::Broadcast(c.broadcast);
    const auto op = tile::Binary(c.binary);
    const bool accumulate = x.math_init.config.accumulate;
    switch (c.op) {
        case Fpu::Matmul:
            for (uint32_t r = 0; r < s.block.rows; ++r)
                for (uint32_t k = 0; k < s.block.columns; ++k)
                    tile::matmul(dest_tile(x, dst + r * s.block.columns + k), s.b[r], s.a[k], fidelity, w);
            break;
        case Fpu::Binary:
            tile::binary(op, d, s.a[0], s.b[0], broadcast, fidelity, w, accumulate);
            break;
        case Fpu::Reuse:
            tile::binary_reuse_dest(op, d, s.a[0], c.reuse == 1 ? tile::Reuse::DestToSrcA : tile::Reuse::DestToSrcB,
                                    broadcast, fidelity, w);
            break;
        case Fpu::Reduce: {
            const bool swapped = c.dim == 0 && c.pool != 2;
            tile::reduce(tile::Pool(c.pool), tile::Dim(c.dim), d, swapped ? s.b[0] : s.a[0], swapped ? s.a[0] : s.b[0],
                         fidelity, w);
            x.reduced[x.math_section][dst] = true;
            break;
        }
        case Fpu::BroadcastCopy:
            tile::copy_broadcast(d, s.a[0], broadcast, w);
            break;
        default:
            if (s.to_dest) {
                d = s.direct;
            } else {
                tile::copy(d, s.a[0], w);
            }
    }
}

}  // namespace

void check_tiles_finished(Thread& t) {
    if (t.role == Role::Math && t.core->tensix->math_owns)
        fault("tile-registers", &t, t.pc, "kernel_main returned with DEST acquired: tile_regs_commit() is missing");
    if (t.role == Role::Pack && t.core->tensix->pack_owns)
        fault("tile-registers", &t, t.pc,
              "kernel_main returned with DEST held by pack: tile_regs_release() is missing");
}

}  // namespace lb

using namespace lb;

extern "C" {

void lb_startup_math() { enter(__builtin_return_address(0)).core->tensix->math_started = true; }

void lb_dest_acquire() {
    Thread& t = enter(__builtin_return_address(0));
    Tensix& x = *t.core->tensix;
    if (!x.math_started) fault("tile-registers", "tile_regs_acquire() before compute_kernel_hw_startup");
    if (x.math_owns) fault("tile-registers", "tile_regs_acquire() twice without tile_regs_commit()");
    block(t, {Wait::DestFree});
    t.acquire(x.dest_released);
    t.clock += machine.chip.handover;
    wait_until(t, x.released_at[x.math_section], Stall::Registers);
    x.math_owns = true;
}

void lb_dest_commit() {
    Thread& t = enter(__builtin_return_address(0));
    Tensix& x = *t.core->tensix;
    if (!x.math_owns) fault("tile-registers", "tile_regs_commit() without tile_regs_acquire()");
    x.math_owns = false;
    t.clock += machine.chip.handover;
    x.committed_at[x.math_section] = t.clock;
    x.math_section = (x.math_section + 1) % x.sections();
    ++x.committed;
    t.release(x.dest_committed);
    wake(*t.core);
}

void lb_math_init(Config config, Block block) {
    Thread& t = enter(__builtin_return_address(0));
    t.clock += machine.chip.init;
    t.core->tensix->math_init = {config, block, t.pc};
}

static uint64_t math_cycles(const Config& config, uint8_t fidelity, const Block& shape) {
    const Chip& c = machine.chip;
    const bool product = config.op == Fpu::Matmul || config.op == Fpu::Reduce;
    const bool phased = product || ((config.op == Fpu::Binary || config.op == Fpu::Reuse) && config.binary == 2);
    return c.tile_call + shape.rows * shape.columns * (product ? c.matmul : c.eltwise) * (phased ? fidelity : 1);
}

static uint64_t sfpu_cycles(Sfpu op, uint8_t span) {
    const Chip& c = machine.chip;
    const bool longer = (op >= Sfpu::Recip && op <= Sfpu::Sigmoid) || op == Sfpu::Div || op >= Sfpu::ReduceMax;
    const uint64_t tile = longer ? c.sfpu_long : c.sfpu;
    return c.tile_call + (span == 1 || span == 2 ? tile / 2 : tile);  // one row or column of faces is half of them
}

static void math_operation(Thread& t, Config config, uint32_t dst, uint8_t fidelity, Block shape) {
    Tensix& x = *t.core->tensix;
    const std::string name = op_name(config);
    check_init(x.math_init, config, shape, "math");
    check_dst(t, dst + shape.rows * shape.columns - 1, name.c_str());
    if (config.op == Fpu::Reuse) filled_tile(t, dst, name.c_str());
    block(t, {Wait::SourceValid});
    t.acquire(x.sources_filled);
    std::unique_ptr<Sources> s = std::move(x.filled.front());
    x.filled.pop_front();
    if (op_name(s->config) != name)
        fault("wrong-init", format("math does %s, but unpack has filled the source registers for %s", name.c_str(),
                                   op_name(s->config).c_str()));
    wait_until(t, s->filled_at, Stall::Registers);
    t.clock += math_cycles(config, fidelity, shape);
    x.freed_at[x.frees++ % Tensix::kBanks] = t.clock;
    run_fpu(x, *s, config, dst, tile::Fidelity(fidelity));
    static const char* fidelities[] = {"", " LoFi", " HiFi2", " HiFi3", " HiFi4"};
    const bool products = config.op == Fpu::Matmul || config.op == Fpu::Reduce || config.binary == 2;
    t.core->counts.tile_ops[name + " " + s->formats + (products ? fidelities[fidelity] : "")] +=
        shape.rows * shape.columns;
    x.spare.push_back(std::move(s));
    t.release(x.sources_freed);
    wake(*t.core);
}

void lb_math(Config config, uint32_t dst, uint8_t fidelity, Block shape) {
    math_operation(enter(__builtin_return_address(0)), config, dst, fidelity, shape);
}

void lb_math_matmul(uint32_t dst, uint8_t fidelity, Block shape) {
    Thread& t = enter(__builtin_return_address(0));
    Config config{Fpu::Matmul};
    config.transpose = t.core->tensix->math_init.config.transpose;
    math_operation(t, config, dst, fidelity, shape);
}

void lb_sfpu_init(Sfpu op, bool approx) {
    Thread& t = enter(__builtin_return_address(0));
    Tensix& x = *t.core->tensix;
    x.sfpu_init = op;
    t.clock += machine.chip.init;
    x.sfpu_approx = approx;
    x.sfpu_pc = t.pc;
}

static void check_sfpu_init(Thread& t, Sfpu op, bool approx) {
    const Tensix& x = *t.core->tensix;
    const bool constants = op <= Sfpu::Sigmoid;
    if (x.sfpu_init == Sfpu::None || (constants && (x.sfpu_init != op || x.sfpu_approx != approx)))
        fault("wrong-init",
              format("%s_tile%s, but the SFPU was last initialised for %s%s", op_name(op),
                     approx ? " (approximate)" : "", op_name(x.sfpu_init), x.sfpu_approx ? " (approximate)" : ""),
              {{"the last init", &t, x.sfpu_pc}});
}

void lb_sfpu(SfpuCall c, uint32_t dst) {
    Thread& t = enter(__builtin_return_address(0));
    Tensix& x = *t.core->tensix;
    const auto w = x.width;
    const std::string name = std::string(op_name(c.op)) + "_tile";
    check_sfpu_init(t, c.op, c.approx);
    if (c.op == Sfpu::Fill) check_dst(t, dst, name.c_str());
    tile::DestTile& d = c.op == Sfpu::Fill ? dest_tile(x, dst) : filled_tile(t, dst, name.c_str());
    const auto span = span_of(c.span);
    t.clock += sfpu_cycles(c.op, c.span);
    switch (c.op) {
        case Sfpu::Exp:
            tile::exp(d, w, {bool(c.approx), bool(c.clamp), c.scalar}, span);
            break;
        case Sfpu::Recip:
            tile::recip(d, w, c.approx, span);
            break;
        case Sfpu::Rsqrt:
            tile::rsqrt(d, w, c.approx, span);
            break;
        case Sfpu::Sqrt:
            tile::sqrt(d, w, c.approx, span);
            break;
        case Sfpu::Silu:
            tile::silu(d, w, span);
            break;
        case Sfpu::Sigmoid:
            tile::sigmoid(d, w, c.approx, span);
            break;
        case Sfpu::Square:
            tile::square(d, w, span);
            break;
        case Sfpu::Abs:
            tile::abs(d, w, span);
            break;
        case Sfpu::Negative:
            tile::negative(d, w, span);
            break;
        case Sfpu::Relu:
            tile::relu(d, w, span);
            break;
        case Sfpu::Fill:
            tile::fill(d, w, c.scalar, span);
            break;
        case Sfpu::Typecast:
            tile::typecast(d, w, tile::Format(c.from), tile::Format(c.to));
            break;
        case Sfpu::ReduceMax:
            tile::sfpu_reduce(tile::Pool::Max, tile::Dim(c.kind), d, w);
            break;
        case Sfpu::ReduceSum:
            tile::sfpu_reduce(tile::Pool::Sum, tile::Dim(c.kind), d, w);
            break;
        default:
            tile::unary(tile::Unary(c.kind), d, w, c.scalar, span);
    }
    count_tile(t, "sfpu " + std::string(op_name(c.op)));
}

void lb_sfpu_binary(Sfpu op, uint32_t a, uint32_t b, uint32_t out) {
    Thread& t = enter(__builtin_return_address(0));
    Tensix& x = *t.core->tensix;
    const std::string name = std::string(op_name(op)) + "_tile";
    check_sfpu_init(t, op, false);
    const tile::DestTile& from = filled_tile(t, a, name.c_str());
    if (op != Sfpu::Copy) filled_tile(t, b, name.c_str());
    check_dst(t, out, name.c_str());
    t.clock += sfpu_cycles(op, 4);
    if (op == Sfpu::Copy) {
        dest_tile(x, out) = from;
    } else {
        tile::sfpu_binary(tile::SfpuBinary(int(op) - int(Sfpu::Add)), dest_tile(x, out), from, dest_tile(x, b),
                          x.width);
    }
    count_tile(t, "sfpu " + std::string(op_name(op)));
}
}
