// Semaphores and flags: words of L1 that order threads. A set, an increment or an inline write arrives at once, after
// the writes that its thread has already sent to that core.
#include <cstring>

#include "noc.h"

namespace lb {

bool is_semaphore(const Core& core, uint32_t address) {
    return (address >= kSemaphoreBase && address < kSemaphoreBase + kMaxSemaphores * kSemaphoreStride) ||
           core.semaphores.count(address);
}

Semaphore& semaphore_at(Core& core, uint32_t address) {
    if (address % 4)
        fault("alignment", format("a semaphore at L1 0x%x: semaphores are words, aligned to 4 B", address));
    if (address + 4 > kL1Bytes || !core.shadow.owned[address / Shadow::kGranule])
        fault("semaphore-missing", format("there is no semaphore or buffer at L1 %s of core (%d,%d)",
                                          l1_name(core, address).c_str(), core.x, core.y));
    return core.semaphores[address];
}

// Sources of semaphore writes still count as being read until the thread flushes or hears back from anybody.
void settle_sends(Thread& t) {
    for (const uint64_t id : t.sends) drop_in_flight(*t.core, id, false);
    t.sends.clear();
}

namespace {

uint32_t& word(Core& core, uint32_t address) { return *reinterpret_cast<uint32_t*>(core.l1 + address); }

void mark_written(Core& core, uint32_t address) {
    core.shadow.at(address).initialised |= Shadow::mask(address & ~15u, address, address + 4);
}

void check_set_order(Thread& t, const Semaphore& s, Core& core, uint32_t address) {
    for (size_t i = 0; i < s.incremented.seen.size(); ++i) {
        if (s.incremented.seen[i] <= t.seen.seen[i]) continue;
        fault("semaphore-race",
              format(
                  "L1 %s of core (%d,%d) is set while an increment is not ordered before it: the increment may be lost",
                  l1_name(core, address).c_str(), core.x, core.y),
              {{"the increment", s.inc_by, s.inc_pc}});
    }
}

void note_set(Thread& t, Core& core, uint32_t address) {
    Semaphore& s = semaphore_at(core, address);
    check_set_order(t, s, core, address);
    mark_written(core, address);
    s.last_set = t.epoch();
    s.set_pc = t.pc;
    s.set_by = &t;
    t.release(s.released);
}

void set_word(Thread& t, Core& core, uint32_t address, uint32_t value) {
    note_set(t, core, address);
    word(core, address) = value;
    wake(core);
}

void increment(Thread& t, Core& core, uint32_t address, uint32_t by) {
    Semaphore& s = semaphore_at(core, address);
    if (s.last_set && !t.has_seen(s.last_set))
        fault(
            "semaphore-race",
            format(
                "L1 %s of core (%d,%d) is incremented while a set is not ordered before it: the increment may be lost",
                l1_name(core, address).c_str(), core.x, core.y),
            {{"the set", s.set_by, s.set_pc}});
    word(core, address) += by;
    s.inc_pc = t.pc;
    s.inc_by = &t;
    s.incremented.join({std::vector<uint32_t>(t.seen.seen.size(), 0)});
    s.incremented.seen[t.id] = t.tick();
    t.release(s.released);
    wake(core);
}

uint32_t own_word(Thread& t, const volatile void* p, const char* what) {
    const auto address = reinterpret_cast<uintptr_t>(p);
    if (address >> 32) fault("outside-buffer", format("%s: %p is no L1 address", what, p));
    return own_l1(t, uint32_t(address), what);
}

void check_sent(Thread& t, uint32_t address) {
    for (const InFlight& f : t.core->in_flight) {
        if (f.write || f.end <= address || address + 4 <= f.begin) continue;
        fault("missing-write-flush",
              format("L1 %s is set while a transfer still reads it: noc_async_writes_flushed() must "
                     "come first",
                     l1_name(*t.core, address).c_str()),
              {{"issued here", f.owner, f.pc}});
    }
}

}  // namespace

// A plain store to a semaphore. The word changes only after this, so its waiters are looked at when nothing else runs.
void semaphore_stored(Thread& t, uint32_t address) {
    check_sent(t, address);
    note_set(t, *t.core, address);
}

}  // namespace lb

using namespace lb;

extern "C" {

uint32_t lb_semaphore_address(uint32_t id) {
    Thread& t = enter(__builtin_return_address(0));
    const uint32_t address = kSemaphoreBase + id * kSemaphoreStride;
    if (id >= kMaxSemaphores || !t.core->shadow.owned[address / Shadow::kGranule])
        fault("semaphore-missing",
              format("get_semaphore(%u): the program has no such semaphore on core (%d,%d)", id, t.core->x, t.core->y));
    return uint32_t(kWindows + uintptr_t{t.core->index} * kWindowBytes) + address;
}

void lb_semaphore_set(volatile uint32_t* p, uint32_t value) {
    Thread& t = enter(__builtin_return_address(0));
    const uint32_t address = own_word(t, p, "noc_semaphore_set");
    check_sent(t, address);
    set_word(t, *t.core, address, value);
}

void lb_semaphore_wait(volatile uint32_t* p, uint32_t value, bool at_least) {
    Thread& t = enter(__builtin_return_address(0));
    const uint32_t address = own_word(t, p, "noc_semaphore_wait");
    Semaphore& s = semaphore_at(*t.core, address);
    block(t, {at_least ? Wait::SemaphoreAtLeast : Wait::SemaphoreEqual, address, value});
    t.acquire(s.released);
    settle_sends(t);
}

void lb_semaphore_inc(uint64_t to, uint32_t by, uint8_t noc) {
    Thread& t = enter(__builtin_return_address(0));
    check_linked(t, false, false, noc);
    const Place place = resolve(to, 4, "noc_semaphore_inc", true);
    if (place.space != Space::L1) fault("semaphore-missing", "noc_semaphore_inc of an address in DRAM");
    deliver_sent(t, place.unit, noc);
    ++t.core->counts.atomics;
    increment(t, machine.cores[place.unit], place.address, by);
}

void lb_semaphore_send(uint32_t from, uint64_t to, uint32_t receivers, Cast cast, bool linked, uint8_t noc) {
    Thread& t = enter(__builtin_return_address(0));
    check_linked(t, cast != Cast::Unicast, linked, noc);
    const uint32_t source = own_l1(t, from, "semaphore write: source");
    const uint32_t value = word(*t.core, source);
    std::vector<uint16_t> cores;
    uint32_t address;
    if (cast == Cast::Unicast) {
        const Place place = resolve(to, 4, "noc_semaphore_set_remote", true);
        if (place.space != Space::L1) fault("semaphore-missing", "noc_semaphore_set_remote to an address in DRAM");
        cores.push_back(place.unit);
        address = place.address;
        ++t.core->counts.l1_writes, t.core->counts.l1_write_bytes += 4;
    } else {
        cores = resolve_multicast(t, to, receivers, cast, noc, &address);
        ++t.core->counts.multicasts, t.core->counts.multicast_bytes += 4;
    }
    if ((source & 15) != (address & 15))
        fault("alignment", format("semaphore write: 0x%x here and 0x%x there differ modulo 16", source, address));
    const uint64_t id = machine.next_transfer++;
    add_in_flight(*t.core, {source, source + 4, false, &t, id, t.pc});
    t.sends.push_back(id);
    for (const uint16_t index : cores) {
        deliver_sent(t, index, noc);
        set_word(t, machine.cores[index], address, value);
    }
}

void lb_inline_write(uint64_t to, uint32_t value, uint8_t byte_enable, uint8_t noc) {
    Thread& t = enter(__builtin_return_address(0));
    check_linked(t, false, false, noc);
    if (byte_enable != 0xF) fault("not-modelled", "noc_inline_dw_write with byte enables other than 0xF");
    const Place place = resolve(to, 4, "noc_inline_dw_write", true);
    if (place.space != Space::L1) fault("not-modelled", "noc_inline_dw_write to DRAM");
    deliver_sent(t, place.unit, noc);
    ++t.core->counts.l1_writes, t.core->counts.l1_write_bytes += 4;
    set_word(t, machine.cores[place.unit], place.address, value);
}
}
