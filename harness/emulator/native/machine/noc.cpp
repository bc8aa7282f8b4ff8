// Transfers. Reads land at their barrier; a write reads its source at the flush and arrives at the barrier, or just
// before what its thread sends to the same core next. That is as late as the hardware may be.
#include <cstring>

#include "noc.h"

namespace lb {

uint8_t* bytes_at(const Place& p) {
    return p.space == Space::Dram ? machine.dram + p.unit * machine.bank_bytes + p.address
                                  : machine.cores[p.unit].l1 + p.address;
}

namespace {

void check_alignment(const Place& remote, uint32_t local, bool read, const char* what) {
    const uint32_t mask = (read && remote.space == Space::Dram ? kDramAlignment : kL1Alignment) - 1;
    if ((remote.address & mask) == (local & mask)) return;
    fault("alignment", format("%s: 0x%x in %s and 0x%x in L1 differ modulo %u", what, remote.address,
                              remote.space == Space::Dram ? "DRAM" : "the other L1", local, mask + 1));
}

void check_size(uint32_t bytes, const char* what) {
    if (!bytes) fault("empty-transfer", format("%s of 0 B", what));
}

constexpr size_t kMostInFlight = 1 << 14;

void check_room(const std::vector<std::unique_ptr<Transfer>>& list) {
    if (list.size() >= kMostInFlight)
        fault("memory-exhausted", format("%zu transfers in flight and no barrier: a loop without end?", list.size()));
}

void issue_read(Thread& t, const Place& from, uint32_t to, uint32_t bytes, uint8_t noc) {
    check_room(t.reads);
    check_size(bytes, "noc_async_read");
    check_alignment(from, to, true, "noc_async_read");
    auto r = std::make_unique<Transfer>();
    r->id = machine.next_transfer++;
    r->noc = noc;
    r->trid = t.read_trid[noc];
    r->bytes = bytes;
    r->from = from;
    r->to = {Space::L1, t.core->index, to};
    r->pc = t.pc;
    check_write(*t.core, to, bytes, t, By::Noc, t.pc);
    add_in_flight(*t.core, {to, to + bytes, true, &t, r->id, t.pc});
    Counts& c = t.core->counts;
    if (from.space == Space::L1) {
        Core& source = machine.cores[from.unit];
        check_read(source, from.address, bytes, t, By::Noc, t.pc, r->id);
        add_in_flight(source, {from.address, from.address + bytes, false, &t, r->id, t.pc});
        ++c.l1_reads, c.l1_read_bytes += bytes;
    } else {
        check_dram_read(t, from, bytes);
        count_dram(from, bytes, false);
        ++c.dram_reads, c.dram_read_bytes += bytes;
    }
    time_read(t, *r);
    t.reads.push_back(std::move(r));
    if (t.reads.size() > c.most_reads_in_flight) c.most_reads_in_flight = t.reads.size();
}

void land(Thread& t, Transfer& r) {
    memcpy(bytes_at(r.to), bytes_at(r.from), r.bytes);
    drop_in_flight(*t.core, r.id, true);
    if (r.from.space == Space::L1) {
        Core& source = machine.cores[r.from.unit];
        drop_in_flight(source, r.id, false);
        check_read(source, r.from.address, r.bytes, t, By::Noc, r.pc, r.id);
    } else {
        check_dram_read(t, r.from, r.bytes);
    }
    check_write(*t.core, r.to.address, r.bytes, t, By::Noc, r.pc, r.id);
    if (r.from.space == Space::L1)
        spread_uninitialised(*t.core, r.to.address, r.bytes,
                             initialised_in(machine.cores[r.from.unit], r.from.address, r.bytes));
}

// A thread that waits for its transfers lets all others run first: what they can see of memory is then as old as it may
// be.
void let_others_run(Thread& t, const std::vector<std::unique_ptr<Transfer>>& list) {
    if (!list.empty()) give_way(t);
}

template <class Which>
void land_reads(Thread& t, Which which) {
    size_t kept = 0;
    for (auto& r : t.reads) {
        if (which(*r)) {
            land(t, *r);
        } else {
            t.reads[kept++] = std::move(r);
        }
    }
    t.reads.resize(kept);
}

void issue_write(Thread& t, uint32_t from, Place to, std::vector<uint16_t> receivers, uint32_t bytes, uint8_t noc,
                 bool posted) {
    check_room(t.writes);
    check_size(bytes, "noc_async_write");
    check_alignment(to, from, false, "noc_async_write");
    auto w = std::make_unique<Transfer>();
    w->id = machine.next_transfer++;
    w->write = true;
    w->posted = posted;
    w->noc = noc;
    w->trid = t.write_trid[noc];
    w->bytes = bytes;
    w->from = {Space::L1, t.core->index, from};
    w->to = to;
    w->pc = t.pc;
    check_read(*t.core, from, bytes, t, By::Noc, t.pc);
    add_in_flight(*t.core, {from, from + bytes, false, &t, w->id, t.pc});
    for (const uint16_t index : receivers) {
        Core& core = machine.cores[index];
        check_write(core, to.address, bytes, t, By::Noc, t.pc, w->id);
        add_in_flight(core, {to.address, to.address + bytes, true, &t, w->id, t.pc});
    }
    if (to.space == Space::Dram) add_dram_write(t, *w);
    w->receivers = std::move(receivers);
    t.writes.push_back(std::move(w));
}

void send(Thread& t, Transfer& w) {
    if (w.sent) return;
    w.sent = true;
    const uint8_t* source = bytes_at(w.from);
    w.payload.assign(source, source + w.bytes);
    w.initialised = initialised_in(*t.core, w.from.address, w.bytes);
    drop_in_flight(*t.core, w.id, false);
    check_read(*t.core, w.from.address, w.bytes, t, By::Noc, w.pc, w.id);
}

void arrive(Thread& t, Transfer& w, Core& core) {
    memcpy(core.l1 + w.to.address, w.payload.data(), w.bytes);
    drop_in_flight(core, w.id, true);
    check_write(core, w.to.address, w.bytes, t, By::Noc, w.pc, w.id);
    spread_uninitialised(core, w.to.address, w.bytes, w.initialised);
}

void complete(Thread& t, Transfer& w) {
    send(t, w);
    for (const uint16_t index : w.receivers) arrive(t, w, machine.cores[index]);
    w.receivers.clear();
    if (w.to.space == Space::Dram) {
        memcpy(bytes_at(w.to), w.payload.data(), w.bytes);
        drop_dram_write(t, w);
    }
}

template <class Which>
void complete_writes(Thread& t, Which which) {
    size_t kept = 0;
    for (auto& w : t.writes) {
        if (which(*w)) {
            complete(t, *w);
        } else {
            t.writes[kept++] = std::move(w);
        }
    }
    t.writes.resize(kept);
}

void count_write(Thread& t, const Place& to, uint32_t bytes) {
    Counts& c = t.core->counts;
    if (to.space == Space::Dram) {
        count_dram(to, bytes, true);
        ++c.dram_writes, c.dram_write_bytes += bytes;
    } else {
        ++c.l1_writes, c.l1_write_bytes += bytes;
    }
}

void write_to(Thread& t, uint32_t from, uint64_t to, uint32_t bytes, uint8_t noc, bool posted) {
    check_linked(t, false, false, noc);
    const Place place = resolve(to, bytes, "noc_async_write", true, noc);
    const uint32_t source = own_l1(t, from, "noc_async_write: source");
    std::vector<uint16_t> receivers;
    if (place.space == Space::L1) receivers.push_back(place.unit);
    issue_write(t, source, place, std::move(receivers), bytes, noc, posted);
    time_write(t, *t.writes.back());
    count_write(t, place, bytes);
}

}  // namespace

void deliver_sent(Thread& t, uint16_t index, uint8_t noc) {
    for (auto& w : t.writes) {
        if (!w->sent || w->noc != noc) continue;
        for (size_t i = 0; i < w->receivers.size(); ++i) {
            if (w->receivers[i] != index) continue;
            arrive(t, *w, machine.cores[index]);
            w->receivers.erase(w->receivers.begin() + long(i));
            break;
        }
    }
}

// Under a schedule seed a transfer may also land early.
void random_landing(Thread& t) {
    if (!t.reads.empty()) {
        const uint64_t id = t.reads[machine.draw(uint32_t(t.reads.size()))]->id;
        land_reads(t, [id](const Transfer& r) { return r.id == id; });
    }
    if (!t.writes.empty()) {
        const uint64_t id = t.writes[machine.draw(uint32_t(t.writes.size()))]->id;
        complete_writes(t, [id](const Transfer& w) { return w.id == id; });
    }
}

void check_finished(Thread& t) {
    if (!t.reads.empty())
        fault("missing-read-barrier", &t, t.reads[0]->pc,
              format("kernel_main returned with %zu reads in flight: noc_async_read_barrier() is missing",
                     t.reads.size()));
    if (!t.writes.empty())
        fault("missing-write-barrier", &t, t.writes[0]->pc,
              format("kernel_main returned with %zu writes in flight: noc_async_write_barrier() is missing",
                     t.writes.size()));
    if (t.linked[0] || t.linked[1])
        fault("linked-multicast", &t, t.pc, "kernel_main returned with a linked multicast open");
    check_tiles_finished(t);
}

}  // namespace lb

using namespace lb;

extern "C" {

void lb_read(uint64_t from, uint32_t to, uint32_t bytes, uint8_t noc) {
    Thread& t = enter_noc(__builtin_return_address(0), noc);
    const Place place = resolve(from, bytes, "noc_async_read", false, noc);
    issue_read(t, place, own_l1(t, to, "noc_async_read: destination"), bytes, noc);
}

void lb_read_set_state(uint64_t from, uint32_t bytes, uint8_t noc) {
    Thread& t = enter_noc(__builtin_return_address(0), noc);
    t.read_state[noc] = from;
    t.read_state_bytes[noc] = bytes;
}

void lb_read_with_state(uint32_t from, uint32_t to, uint32_t bytes, uint8_t noc) {
    Thread& t = enter_noc(__builtin_return_address(0), noc);
    const uint64_t node = t.read_state[noc] >> kLocalBits << kLocalBits;
    if (!node) fault("noc-state", "a read with state, but nothing has set the state");
    const uint32_t size = bytes ? bytes : t.read_state_bytes[noc];
    const Place place = resolve(node | from, size, "noc_async_read_with_state", false, noc);
    issue_read(t, place, own_l1(t, to, "noc_async_read_with_state: destination"), size, noc);
}

void lb_write(uint32_t from, uint64_t to, uint32_t bytes, uint8_t noc, bool posted) {
    Thread& t = enter_noc(__builtin_return_address(0), noc);
    write_to(t, from, to, bytes, noc, posted);
}

void lb_write_set_state(uint64_t to, uint32_t bytes, uint8_t noc, bool posted) {
    Thread& t = enter_noc(__builtin_return_address(0), noc);
    t.write_state[noc] = to;
    t.write_state_bytes[noc] = bytes;
    t.write_state_posted[noc] = posted;
}

void lb_write_with_state(uint32_t from, uint32_t to, uint32_t bytes, uint8_t noc) {
    Thread& t = enter_noc(__builtin_return_address(0), noc);
    const uint64_t node = t.write_state[noc] >> kLocalBits << kLocalBits;
    if (!node) fault("noc-state", "a write with state, but nothing has set the state");
    write_to(t, from, node | to, bytes ? bytes : t.write_state_bytes[noc], noc, t.write_state_posted[noc]);
}

void lb_write_multicast(uint32_t from, uint64_t to, uint32_t bytes, uint32_t receivers, Cast cast, bool linked,
                        uint8_t noc) {
    Thread& t = enter_noc(__builtin_return_address(0), noc);
    const bool path_open = t.linked[noc];
    check_linked(t, true, linked, noc);
    uint32_t l1;
    std::vector<uint16_t> cores = resolve_multicast(t, to, receivers, cast, noc, &l1);
    const uint32_t source = own_l1(t, from, "noc_async_write_multicast: source");
    issue_write(t, source, {Space::L1, t.core->index, l1}, std::move(cores), bytes, noc, false);
    const Transfer& w = *t.writes.back();
    time_multicast(t, w.receivers, bytes, noc, w.trid, path_open, linked);
    Counts& c = t.core->counts;
    ++c.multicasts, c.multicast_bytes += bytes;
}

void lb_set_trid(bool write, uint32_t trid, uint8_t noc) {
    Thread& t = enter_noc(__builtin_return_address(0), noc);
    if (trid > 15) fault("noc-state", format("transaction id %u: ids go from 0 to 15", trid));
    (write ? t.write_trid : t.read_trid)[noc] = uint8_t(trid);
}

void lb_read_barrier(uint8_t noc) {
    Thread& t = enter_noc(__builtin_return_address(0), noc);
    ++t.core->counts.read_barriers;
    let_others_run(t, t.reads);
    land_reads(t, [noc](const Transfer& r) { return r.noc == noc; });
    await(t, t.pending.read, noc, kAnyTrid, Stall::Read);
}

void lb_read_barrier_trid(uint32_t trid, uint8_t noc) {
    Thread& t = enter_noc(__builtin_return_address(0), noc);
    ++t.core->counts.read_barriers;
    let_others_run(t, t.reads);
    land_reads(t, [=](const Transfer& r) { return r.noc == noc && r.trid == trid; });
    await(t, t.pending.read, noc, int(trid), Stall::Read);
}

void lb_write_barrier(uint8_t noc) {
    Thread& t = enter_noc(__builtin_return_address(0), noc);
    ++t.core->counts.write_barriers;
    let_others_run(t, t.writes);
    complete_writes(t, [noc](const Transfer& w) { return w.noc == noc && !w.posted; });
    await(t, t.pending.written, noc, kAnyTrid, Stall::Write);
    settle_sends(t);
}

void lb_write_barrier_trid(uint32_t trid, uint8_t noc) {
    Thread& t = enter_noc(__builtin_return_address(0), noc);
    ++t.core->counts.write_barriers;
    let_others_run(t, t.writes);
    complete_writes(t, [=](const Transfer& w) { return w.noc == noc && w.trid == trid && !w.posted; });
    await(t, t.pending.written, noc, int(trid), Stall::Write);
}

// A posted write is never acknowledged: flushed is all that can be known of it, so it arrives then.
void lb_writes_flushed(uint8_t noc, bool posted) {
    Thread& t = enter_noc(__builtin_return_address(0), noc);
    let_others_run(t, t.writes);
    await(t, t.pending.sent, noc, kAnyTrid, Stall::Write);
    if (posted) {
        complete_writes(t, [noc](const Transfer& w) { return w.noc == noc && w.posted; });
        return;
    }
    for (auto& w : t.writes)
        if (w->noc == noc && !w->posted) send(t, *w);
    settle_sends(t);
}

void lb_writes_flushed_trid(uint32_t trid, uint8_t noc) {
    Thread& t = enter_noc(__builtin_return_address(0), noc);
    for (auto& w : t.writes)
        if (w->noc == noc && w->trid == trid && !w->posted) send(t, *w);
    await(t, t.pending.sent, noc, int(trid), Stall::Write);
}

void lb_atomic_barrier(uint8_t noc) { deliver_all_of(enter_noc(__builtin_return_address(0), noc)); }
}
