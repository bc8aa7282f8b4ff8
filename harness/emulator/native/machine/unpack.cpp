// The unpack thread: tiles from L1 to the source registers, in the formats its configuration says.
#include <algorithm>
#include <cstring>

#include "fault.h"
#include "tensix.h"

namespace lb {

Tensix::Tensix() {
    for (auto& section : dest)
        for (auto& t : section) tile::clear(t);
}

bool Tensix::satisfied(const Wait& w) const {
    switch (w.kind) {
        case Wait::SourceFree:
            return int(filled.size()) < kBanks;
        case Wait::SourceValid:
            return !filled.empty();
        case Wait::DestFree:
            return committed < sections();
        case Wait::DestReady:
            return committed > 0;
        case Wait::MailFree:
            return mailboxes[w.a].size() < kMailboxWords;
        case Wait::Mail:
            return !mailboxes[w.a].empty();
        default:
            return true;
    }
}

const char* format_name(uint8_t format) {
    switch (format) {
        case 0:
            return "fp32";
        case 4:
            return "tf32";
        case 5:
            return "bf16";
        case 6:
            return "bfp8";
        case 7:
            return "bfp4";
        case 8:
            return "int32";
        case 9:
            return "uint16";
        case 24:
            return "uint32";
        case 255:
            return "nothing";
        default:
            return "an unsupported format";
    }
}

std::string op_name(const Config& c) {
    static const char* binary[] = {"add", "sub", "mul"};
    static const char* broadcast[] = {"", "_bcast_rows", "_bcast_cols", "_bcast_scalar"};
    switch (c.op) {
        case Fpu::Copy:
            return "copy_tile";
        case Fpu::Transpose:
            return "transpose_tile";
        case Fpu::BroadcastCopy:
            return "unary_bcast";
        case Fpu::Matmul:
            return c.transpose ? "matmul (transposed)" : "matmul";
        case Fpu::Binary:
            return std::string(binary[c.binary]) + "_tiles" + broadcast[c.broadcast];
        case Fpu::Reuse:
            return std::string(binary[c.binary]) + "_reuse_dest_tiles" +
                   (c.reuse == 1 ? "<DEST_TO_SRCA>" : "<DEST_TO_SRCB>");
        case Fpu::Reduce: {
            static const char* pool[] = {"SUM", "AVG", "MAX"};
            static const char* dim[] = {"REDUCE_ROW", "REDUCE_COL", "REDUCE_SCALAR"};
            return format("reduce_tile<%s, %s>", pool[c.pool], dim[c.dim]);
        }
        default:
            return "nothing";
    }
}

uint32_t tile_address(Thread& t, uint32_t index, uint32_t tile, bool write) {
    if (index >= kMaxCbs || !t.core->cbs[index].exists)
        fault("cb-missing", format("cb %u, which this core does not have", index));
    const Cb& cb = t.core->cbs[index];
    const auto bytes = uint32_t(tile::tile_bytes(tile::Format(cb.format)));
    if (cb.page != bytes)
        fault("page-size", format("cb %u has pages of %u B, a tile of its format (%s) has %u B", index, cb.page,
                                  format_name(cb.format), bytes));
    const CbView& v = t.cbs[index];
    const uint32_t there = write ? v.reserved : v.waited;
    if (tile >= there)
        fault(write ? "pack-without-reserve" : "unpack-without-wait",
              format("tile %u of cb %u, but %s has %s only %u pages", tile, index,
                     write ? "cb_reserve_back" : "cb_wait_front", write ? "reserved" : "waited for", there));
    const uint32_t address = (write ? v.wr : v.rd) + tile * cb.page;
    if (address + cb.page > cb.base + cb.size)
        fault(
            "cb-overrun",
            format("tile %u of cb %u lies beyond the buffer's end: blocks must not wrap in their middle", tile, index));
    return address;
}

void count_tile(Thread& t, const std::string& what) { ++t.core->counts.tile_ops[what]; }

namespace {

// The parts of a tile an operation looks at; a tile need not hold more.
enum class Part { All, FirstRow, FirstColumn, FirstDatum, FaceRows };

void check_tile(Thread& t, const Cb& cb, uint32_t address, Part part) {
    const uint32_t face = cb.page / 4, row = face / 16;
    const bool block = cb.format == 6 || cb.format == 7;
    const auto check = [&](uint32_t offset, uint32_t bytes) {
        check_read(*t.core, address + offset, bytes, t, By::Unpacker, t.pc);
    };
    if (part == Part::All || block) {
        check(0, cb.page);
        const int bad = tile::first_poisoned(t.core->l1 + address, tile::Format(cb.format));
        if (bad >= 0)
            fault("uninitialised-read", format("the unpacker reads L1 %s, whose datum %d is the poison of memory that "
                                               "was never written (copied from DRAM or another L1)",
                                               l1_name(*t.core, address).c_str(), bad));
    } else if (part == Part::FirstRow) {
        check(0, row), check(face, row);
    } else if (part == Part::FirstColumn) {
        check(0, face), check(2 * face, face);
    } else if (part == Part::FirstDatum) {
        check(0, 4);
    } else {
        for (uint32_t f = 0; f < 4; ++f) check(f * face, row);
    }
}

void unpack_tile(Thread& t, uint32_t index, uint32_t tile, bool to_b, Part part, tile::SrcTile& out) {
    Tensix& x = *t.core->tensix;
    const uint32_t address = tile_address(t, index, tile, false);
    const Cb& cb = t.core->cbs[index];
    if (x.source_format[to_b] != cb.format)
        fault("data-format", format("%s of cb %u (%s), but Src%c is configured for %s: compute_kernel_hw_startup or "
                                    "reconfig_data_format for this operand is missing",
                                    op_name(x.unpack_init.config).c_str(), index, format_name(cb.format),
                                    to_b ? 'B' : 'A', format_name(x.source_format[to_b])));
    check_tile(t, cb, address, part);
    const auto f = tile::Format(cb.format);
    tile::unpack(out, t.core->l1 + address, f, tile::src_format(f, x.width));
}

bool same(Config a, Config b) {
    return a.op == b.op && a.binary == b.binary && a.broadcast == b.broadcast && a.reuse == b.reuse &&
           a.pool == b.pool && a.dim == b.dim && a.transpose == b.transpose;
}

std::string formats(Thread& t, uint32_t a, uint32_t b) {
    std::string s = format_name(t.core->cbs[a].format);
    if (b != a) s += std::string(" x ") + format_name(t.core->cbs[b].format);
    return s;
}

}  // namespace

void check_init(const Init& init, const Config& config, const Block& block, const char* thread) {
    if (same(init.config, config) && init.block.rows == block.rows && init.block.columns == block.columns) return;
    const bool only_block = same(init.config, config);
    fault("wrong-init",
          only_block ? format("%s of a %u x %u block, but the init was for %u x %u", op_name(config).c_str(),
                              block.rows, block.columns, init.block.rows, init.block.columns)
                     : format("%s, but the %s thread was last initialised for %s", op_name(config).c_str(), thread,
                              op_name(init.config).c_str()),
          {{"the last init", machine.running, init.pc}});
}

}  // namespace lb

using namespace lb;

extern "C" {

void lb_startup_unpack(uint32_t srca_cb, uint32_t srcb_cb) {
    enter(__builtin_return_address(0));
    lb_reconfig_source(srca_cb, false);
    lb_reconfig_source(srcb_cb, true);
}

void lb_reconfig_source(uint32_t index, bool b) {
    Thread& t = *machine.running;
    if (index >= kMaxCbs || !t.core->cbs[index].exists)
        fault("cb-missing", format("a data format from cb %u, which this core does not have", index));
    t.clock += machine.chip.init;
    t.core->tensix->source_format[b] = t.core->cbs[index].format;
}

// tt-metal compares the formats of the two operands, not what is configured.
void lb_reconfig_source_if_new(uint32_t old_cb, uint32_t new_cb, bool b) {
    const std::vector<Cb>& cbs = machine.running->core->cbs;
    if (old_cb < kMaxCbs && new_cb < kMaxCbs && cbs[old_cb].format == cbs[new_cb].format) return;
    lb_reconfig_source(new_cb, b);
}

void lb_unpack_init(Config config, Block block) {
    Thread& t = enter(__builtin_return_address(0));
    t.clock += machine.chip.init;
    t.core->tensix->unpack_init = {config, block, t.pc};
}

uint32_t lb_tile_value(uint32_t index, uint32_t tile, uint32_t word) {
    Thread& t = enter(__builtin_return_address(0));
    Tensix& x = *t.core->tensix;
    const uint32_t address = tile_address(t, index, tile, false) + word * 4;
    if (word * 4 >= t.core->cbs[index].page)
        fault("outside-buffer",
              format("read_tile_value of word %u: a page of cb %u has %u", word, index, t.core->cbs[index].page / 4));
    check_read(*t.core, address, 4, t, By::Cpu, t.pc);
    uint32_t value;
    memcpy(&value, t.core->l1 + address, 4);
    t.clock += machine.chip.load;
    for (uint32_t i = 0; i < Tensix::kMailboxes; ++i) {
        block(t, {Wait::MailFree, i});
        t.acquire(x.mail_read);
        t.clock += machine.chip.store;
        x.mailboxes[i].push_back({value, t.clock});
        t.release(x.mail_sent);
        wake(*t.core);
    }
    return value;
}

uint32_t lb_mailbox_read() {
    Thread& t = enter(__builtin_return_address(0));
    Tensix& x = *t.core->tensix;
    const uint32_t i = t.role == Role::Math ? 0 : 1;
    block(t, {Wait::Mail, i});
    t.acquire(x.mail_sent);
    const Mail mail = x.mailboxes[i].front();
    x.mailboxes[i].pop_front();
    t.clock += machine.chip.load;
    wait_until(t, mail.sent_at, Stall::Registers);
    t.release(x.mail_read);
    wake(*t.core);
    return mail.value;
}

// Two unpackers work side by side. In a block of products the operand with fewer tiles stays, the other streams by.
static uint64_t unpack_cycles(const Thread& t, const Config& config, uint32_t cb_a, uint32_t cb_b, const Block& shape) {
    const Chip& c = machine.chip;
    const uint32_t a = t.core->cbs[cb_a % kMaxCbs].page, b = t.core->cbs[cb_b % kMaxCbs].page;
    uint32_t bytes = a;
    if (config.op == Fpu::Matmul) bytes = shape.rows * shape.columns * (shape.columns >= shape.rows ? b : a);
    if (config.op == Fpu::Binary || config.op == Fpu::Reduce) bytes = std::max(a, b);
    return c.tile_call + uint64_t(bytes / c.unpack);
}

static void unpack_operands(Thread& t, Config config, uint32_t cb_a, uint32_t tile_a, uint32_t cb_b, uint32_t tile_b,
                            Block shape) {
    Tensix& x = *t.core->tensix;
    check_init(x.unpack_init, config, shape, "unpack");
    block(t, {Wait::SourceFree});
    t.acquire(x.sources_freed);
    wait_until(t, x.freed_at[x.fills++ % Tensix::kBanks], Stall::Registers);
    t.clock += unpack_cycles(t, config, cb_a, cb_b, shape);

    std::unique_ptr<Sources> s;
    if (x.spare.empty()) {
        s = std::make_unique<Sources>();
    } else {
        s = std::move(x.spare.back());
        x.spare.pop_back();
    }
    s->config = config;
    s->block = shape;
    s->to_dest = false;
    s->a.resize(1);
    s->b.resize(1);
    s->formats = formats(t, cb_a, cb_b);
    static constexpr Part spread[] = {Part::All, Part::FirstRow, Part::FirstColumn, Part::FirstDatum};
    switch (config.op) {
        case Fpu::Matmul:
            // in0 is operand a of the call and goes to SrcB, in1 to SrcA.
            s->b.resize(shape.rows);
            s->a.resize(shape.columns);
            for (uint32_t r = 0; r < shape.rows; ++r)
                unpack_tile(t, cb_a, tile_a + r * shape.inner, true, Part::All, s->b[r]);
            for (uint32_t c = 0; c < shape.columns; ++c) {
                unpack_tile(t, cb_b, tile_b + c, false, Part::All, s->a[c]);
                if (config.transpose) tile::transpose(s->a[c]);
            }
            break;
        case Fpu::Binary:
            unpack_tile(t, cb_a, tile_a, false, Part::All, s->a[0]);
            unpack_tile(t, cb_b, tile_b, true, spread[config.broadcast], s->b[0]);
            break;
        case Fpu::Reduce: {
            // Sums along rows swap the operands, so that the scaler is in SrcA.
            const bool swapped = config.dim == 0 && config.pool != 2;
            unpack_tile(t, cb_a, tile_a, swapped, Part::All, swapped ? s->b[0] : s->a[0]);
            unpack_tile(t, cb_b, tile_b, !swapped, Part::FaceRows, swapped ? s->a[0] : s->b[0]);
            break;
        }
        case Fpu::Reuse:
            unpack_tile(t, cb_a, tile_a, config.reuse == 1, Part::All, s->a[0]);
            break;
        default: {
            const Cb& cb = t.core->cbs[cb_a % kMaxCbs];
            s->to_dest = cb.format == 8 || cb.format == 24 || (cb.format == 0 && x.unpack_to_dest >> cb_a & 1);
            const Part part = config.op == Fpu::BroadcastCopy ? spread[config.broadcast] : Part::All;
            if (s->to_dest) {
                const uint32_t address = tile_address(t, cb_a, tile_a, false);
                check_tile(t, cb, address, part);
                tile::unpack_to_dest(s->direct, t.core->l1 + address);
                if (config.op == Fpu::Transpose) tile::transpose(s->direct);
            } else {
                unpack_tile(t, cb_a, tile_a, false, part, s->a[0]);
                if (config.op == Fpu::Transpose) tile::transpose(s->a[0]);
            }
        }
    }
    s->filled_at = t.clock;
    x.filled.push_back(std::move(s));
    t.release(x.sources_filled);
    wake(*t.core);
}
void lb_unpack(Config config, uint32_t cb_a, uint32_t tile_a, uint32_t cb_b, uint32_t tile_b, Block shape) {
    unpack_operands(enter(__builtin_return_address(0)), config, cb_a, tile_a, cb_b, tile_b, shape);
}

// Whether in1 is transposed is a matter of the init alone.
void lb_unpack_matmul(uint32_t cb_in0, uint32_t tile_in0, uint32_t cb_in1, uint32_t tile_in1, Block shape) {
    Thread& t = enter(__builtin_return_address(0));
    Config config{Fpu::Matmul};
    config.transpose = t.core->tensix->unpack_init.config.transpose;
    unpack_operands(t, config, cb_in0, tile_in0, cb_in1, tile_in1, shape);
}
}
