// Clocks of transfers: latencies, and what they share.
#include "timing.h"

#include <algorithm>
#include <type_traits>
#include <cstdio>

#include "machine.h"

namespace lb {

const char* const kStallNames[kStalls] = {"read", "write", "CB full", "CB empty", "semaphore", "registers", "start"};

namespace {

double flow(uint32_t bytes, double rate) { return double(bytes) / rate; }
uint64_t whole(double cycles) { return uint64_t(cycles + 0.5); }

// NoC 0 goes right and down, NoC 1 left and up, both around the torus.
uint64_t one_way(const Core& from, const Core& to, uint8_t noc) {
    const Chip& c = machine.chip;
    const Core& a = noc ? to : from;
    const Core& b = noc ? from : to;
    const uint64_t hops = (c.columns + b.noc_x - a.noc_x) % c.columns + (c.rows + b.noc_y - a.noc_y) % c.rows;
    return c.one_way + c.hop * hops;
}

bool one_axis(const Core& a, const Core& b) { return a.noc_x == b.noc_x || a.noc_y == b.noc_y; }

bool in_row(const Core& core, const Place& bank, uint8_t noc) {
    return core.noc_y == machine.chip.bank_row[noc][bank.unit % 8];
}

// The beginning of a transfer between a core and a bank, given the core's own port. A core that stays with a bank of
// its row shares no path with others.
uint64_t book_bank(Thread& t, const Place& bank, uint32_t bytes, uint8_t noc, Calendar& port, bool write) {
    const Chip& c = machine.chip;
    const bool stream = t.pending.bank[noc] == bank.unit;
    t.pending.bank[noc] = bank.unit;
    DramBank& b = machine.dram_banks[bank.unit];
    const double at_bank = flow(bytes, c.bank), at_path = flow(bytes, c.scattered * machine.banks);
    const uint64_t begin = std::max({b.requests[noc].book(t.clock, double(c.request)), b.data.book(t.clock, at_bank),
                                     port.book(t.clock, stream ? at_bank : flow(bytes, c.core_scattered))});
    if (stream && in_row(*t.core, bank, noc)) {
        if (machine.timeline.on) machine.timeline.moved(write, begin, whole(at_bank), bytes);
        return begin;
    }
    const uint64_t path = machine.scattered.book(t.clock, at_path);
    if (machine.timeline.on) machine.timeline.moved(write, path, whole(at_path), bytes);
    return std::max(begin, path);
}

void note(uint64_t& time, uint64_t at) { time = std::max(time, at); }

}  // namespace

bool Chip::set(const std::string& constant, double new_value) {
#define LB_SET(type, name, value, unit, mark, source) \
    if (constant == #name) return name = type(std::is_integral_v<type> ? new_value + 0.5 : new_value), true;
    LB_CHIP(LB_SET)
#undef LB_SET
    return false;
}

void print_constants() {
    const char* comma = "[";
#define LB_PRINT(type, name, value, unit, mark, source)                                                          \
    printf("%s{\"name\": \"%s\", \"value\": %g, \"unit\": \"%s\", \"mark\": \"%s\", \"source\": \"%s\"}", comma, \
           #name, double(value), unit, #mark, source);                                                           \
    comma = ",\n";
    LB_CHIP(LB_PRINT)
#undef LB_PRINT
    printf("]\n");
}

uint32_t Calendar::with_room(uint32_t slot) {
    if (slot >= next.size()) {
        used.resize(slot + 64);
        for (auto i = uint32_t(next.size()); i < slot + 64; ++i) next.push_back(i);
    }
    uint32_t last = slot;
    while (last < next.size() && next[last] != last) last = next[last];
    while (slot != last) {
        const uint32_t after = next[slot];
        next[slot] = last;
        slot = after;
    }
    return last < next.size() ? last : with_room(last);
}

uint64_t Calendar::book(uint64_t from, double cycles) {
    const auto parts = std::max<uint64_t>(1, uint64_t(cycles * double(kParts) + 0.5));
    uint64_t end = from * kParts + parts;
    auto slot = uint32_t(from * kParts / kSlot);
    for (uint64_t left = parts; left;) {
        slot = with_room(slot);
        const uint64_t part = std::min(left, kSlot - used[slot]);
        used[slot] = uint16_t(used[slot] + part);
        left -= part;
        if (!left) end = std::max(end, slot * kSlot + used[slot]);
        if (used[slot] == kSlot) next[slot] = slot + 1;
    }
    return (end - parts) / kParts;
}

void wait_until(Thread& t, uint64_t time, Stall why) {
    if (time <= t.clock) return;
    if (machine.timeline.on) t.spans.waits.push_back({t.clock, time, why, t.pc});
    t.stalls[int(why)] += time - t.clock;
    t.clock = time;
}

void time_read(Thread& t, const Transfer& r) {
    const Chip& c = machine.chip;
    t.clock += c.issue;
    Calendar& port = t.core->incoming[r.noc];
    uint64_t at;
    if (r.from.space == Space::Dram) {
        at = book_bank(t, r.from, r.bytes, r.noc, port, false) + whole(flow(r.bytes, c.bank)) +
             (in_row(*t.core, r.from, r.noc) ? c.dram_read_row : c.dram_read);
    } else {
        Core& source = machine.cores[r.from.unit];
        const double link = flow(r.bytes, c.link);
        at = std::max(source.outgoing[r.noc].book(t.clock, link), port.book(t.clock, link)) + whole(link) +
             (one_axis(source, *t.core) ? c.l1_read_axis : c.l1_read);
    }
    note(t.pending.read[r.noc][r.trid], at);
}

void time_write(Thread& t, const Transfer& w) {
    const Chip& c = machine.chip;
    t.clock += c.issue;
    Calendar& port = t.core->outgoing[w.noc];
    const double link = flow(w.bytes, c.link);
    uint64_t begin, round = c.l1_write;
    if (w.to.space == Space::Dram) {
        begin = book_bank(t, w.to, w.bytes, w.noc, port, true);
        if (in_row(*t.core, w.to, w.noc)) round = c.l1_write_axis;
    } else {
        Core& to = machine.cores[w.receivers[0]];
        begin = std::max(port.book(t.clock, link), to.incoming[w.noc].book(t.clock, link));
        if (one_axis(to, *t.core)) round = c.l1_write_axis;
        t.pending.arrived.resize(machine.cores.size());
        note(t.pending.arrived[to.index], begin + whole(link) + one_way(*t.core, to, w.noc));
    }
    note(t.pending.sent[w.noc][w.trid], begin + whole(link));
    note(t.pending.written[w.noc][w.trid], begin + whole(link) + round);
}

void time_multicast(Thread& t, const std::vector<uint16_t>& cores, uint32_t bytes, uint8_t noc, uint8_t trid,
                    bool path_open, bool linked) {
    const Chip& c = machine.chip;
    t.clock += c.issue;
    const double taken = (path_open ? 0 : double(c.multicast_path)) +
                         flow(bytes, path_open || linked ? c.linked_multicast : c.multicast);
    const uint64_t sent = machine.multicasts[noc].book(t.clock, taken) + whole(taken);
    t.pending.arrived.resize(machine.cores.size());
    for (const uint16_t i : cores) note(t.pending.arrived[i], sent + one_way(*t.core, machine.cores[i], noc));
    note(t.pending.sent[noc][trid], sent);
    note(t.pending.written[noc][trid], sent + c.l1_write + uint64_t(c.acknowledge * double(cores.size())));
}

uint64_t word_arrives(Thread& t, uint16_t core, uint8_t noc) {
    const uint64_t at = t.clock + one_way(*t.core, machine.cores[core], noc);
    return core < t.pending.arrived.size() ? std::max(at, t.pending.arrived[core]) : at;
}

void await(Thread& t, const uint64_t (&times)[2][16], uint8_t noc, int trid, Stall why) {
    const uint64_t* first = times[noc];
    wait_until(t, trid == kAnyTrid ? *std::max_element(first, first + 16) : first[trid], why);
}

}  // namespace lb
