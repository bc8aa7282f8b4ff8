// Semaphores and flags: words of L1 that order threads. A set, an increment or an inline write arrives at once, after
// the writes that its thread has already sent to that core.
#include <algorithm>

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

Message message(Thread& t, Core& core, uint32_t address, uint32_t value, bool add, uint64_t time) {
    semaphore_at(core, address);
    Message m{&t, &core, address, value, add, time, t.seen, t.pc};
    ++t.seen.seen[t.id];
    return m;
}

[[noreturn]] void unordered(const Message& m, const char* earlier, Thread* by, uintptr_t pc) {
    fault("semaphore-race", m.from, m.pc,
          format("L1 %s of core (%d,%d) is %s while %s is not ordered before it: the increment may be lost",
                 l1_name(*m.core, m.address).c_str(), m.core->x, m.core->y, m.add ? "incremented" : "set", earlier),
          {{earlier, by, pc}});
}

// A set and an increment must be ordered, by what each sender had seen of the other's.
void note(const Message& m) {
    Semaphore& s = semaphore_at(*m.core, m.address);
    const uint32_t tick = m.seen.seen[m.from->id];
    if (m.add) {
        if (s.last_set && epoch_tick(s.last_set) > m.seen.seen[epoch_thread(s.last_set)])
            unordered(m, "a set", s.set_by, s.set_pc);
        s.incremented.seen.resize(m.seen.seen.size());
        s.incremented.seen[m.from->id] = tick;
        s.inc_pc = m.pc;
        s.inc_by = m.from;
    } else {
        for (size_t i = 0; i < s.incremented.seen.size(); ++i)
            if (s.incremented.seen[i] > m.seen.seen[i]) unordered(m, "an increment", s.inc_by, s.inc_pc);
        s.last_set = make_epoch(m.from->id, tick);
        s.set_pc = m.pc;
        s.set_by = m.from;
    }
    mark_written(*m.core, m.address);
    s.released.join(m.seen);
}

void note_change(Semaphore& s, uint32_t value, const Message& m) {
    const uint64_t before = m.add && !s.changes.empty() ? s.changes.back().time : 0;
    if (!m.add) s.changes.clear();
    s.changes.push_back({value, std::max(before, m.time)});
}

// When the semaphore came to the value that a thread waited for.
uint64_t reached_at(const Semaphore& s, uint32_t value, bool at_least) {
    uint64_t time = s.stored_at;
    for (const Change& c : s.changes) {
        time = std::max(time, c.time);
        if (at_least ? c.value >= value : c.value == value) break;
    }
    return time;
}

[[noreturn]] void missed(const Core& core, uint32_t address, uint32_t value, const Moment& change, const Moment& wait) {
    fault(
        "semaphore-race", change.by, change.pc,
        format("L1 %s of core (%d,%d) is %u no longer, and nothing orders that after the wait for it of %s, which may "
               "never see it: hear back first, or let it wait with noc_semaphore_wait_min()",
               l1_name(core, address).c_str(), core.x, core.y, value, who(*wait.by).c_str()),
        {{"the wait", wait.by, wait.pc}});
}

// A value that a thread waits for must stay until that thread is known to have seen it.
void check_seen(const Message& m, uint32_t before) {
    Semaphore& s = semaphore_at(*m.core, m.address);
    const Moment change{m.from, m.seen.seen[m.from->id], m.pc};
    for (const auto& [thread, wait] : s.seen)
        if (wait.tick > m.seen.seen[thread]) missed(*m.core, m.address, before, change, wait);
    s.seen.clear();
    s.gone[before] = change;
}

// The same when the change came first.
void check_missed(Thread& t, uint32_t address, uint32_t value) {
    const Semaphore& s = semaphore_at(*t.core, address);
    const auto gone = s.gone.find(value);
    if (gone == s.gone.end()) return;
    const Moment& change = gone->second;
    if (change.tick > t.seen.seen[change.by->id]) missed(*t.core, address, value, change, {&t, t.tick(), t.pc});
}

void deliver(const Message& m) {
    note(m);
    uint32_t& w = word(*m.core, m.address);
    const uint32_t value = m.add ? w + m.value : m.value;
    if (value != w) check_seen(m, w);
    w = value;
    note_change(semaphore_at(*m.core, m.address), w, m);
    wake(*m.core);
}

// Under a schedule seed a message to another core is on its way for a while.
void post(const Message& m) {
    if (machine.seed && m.core != m.from->core) {
        machine.messages.push_back(m);
    } else {
        deliver(m);
    }
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

void note_seen(Thread& t, uint32_t address) { semaphore_at(*t.core, address).seen[t.id] = {&t, t.tick(), t.pc}; }

// A plain store to a semaphore. The word changes only after this, so its waiters are looked at when nothing else runs.
void semaphore_stored(Thread& t, uint32_t address) {
    check_sent(t, address);
    note(message(t, *t.core, address, 0, false, t.clock));
    Semaphore& s = semaphore_at(*t.core, address);
    s.changes.clear();
    s.stored_at = t.clock;
}

bool deliver_one() {
    auto& all = machine.messages;
    if (all.empty()) return false;
    // Those of one thread arrive in their order.
    const Thread* from = all[machine.draw(uint32_t(all.size()))].from;
    const auto first = std::find_if(all.begin(), all.end(), [from](const Message& m) { return m.from == from; });
    const Message m = *first;
    all.erase(first);
    deliver(m);
    return true;
}

void deliver_all_of(const Thread& t) {
    auto& all = machine.messages;
    for (size_t i = 0; i < all.size();) {
        if (all[i].from != &t) {
            ++i;
            continue;
        }
        const Message m = all[i];
        all.erase(all.begin() + long(i));
        deliver(m);
    }
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
    t.clock += machine.chip.store;
    post(message(t, *t.core, address, value, false, t.clock));
}

void lb_semaphore_wait(volatile uint32_t* p, uint32_t value, bool at_least) {
    Thread& t = enter(__builtin_return_address(0));
    const uint32_t address = own_word(t, p, "noc_semaphore_wait");
    Semaphore& s = semaphore_at(*t.core, address);
    if (!at_least) check_missed(t, address, value);
    block(t, {at_least ? Wait::SemaphoreAtLeast : Wait::SemaphoreEqual, address, value});
    if (!at_least) note_seen(t, address);
    t.acquire(s.released);
    t.clock += machine.chip.poll;
    wait_until(t, reached_at(s, value, at_least), Stall::Semaphore);
    settle_sends(t);
}

void lb_semaphore_inc(uint64_t to, uint32_t by, uint8_t noc) {
    Thread& t = enter_noc(__builtin_return_address(0), noc);
    check_linked(t, false, false, noc);
    const Place place = resolve(to, 4, "noc_semaphore_inc", true, noc);
    if (place.space != Space::L1) fault("semaphore-missing", "noc_semaphore_inc of an address in DRAM");
    deliver_sent(t, place.unit, noc);
    ++t.core->counts.atomics;
    t.clock += machine.chip.issue;
    post(message(t, machine.cores[place.unit], place.address, by, true, word_arrives(t, place.unit, noc)));
}

void lb_semaphore_send(uint32_t from, uint64_t to, uint32_t receivers, Cast cast, bool linked, uint8_t noc) {
    Thread& t = enter_noc(__builtin_return_address(0), noc);
    const bool path_open = t.linked[noc];
    check_linked(t, cast != Cast::Unicast, linked, noc);
    const uint32_t source = own_l1(t, from, "semaphore write: source");
    const uint32_t value = word(*t.core, source);
    std::vector<uint16_t> cores;
    uint32_t address;
    if (cast == Cast::Unicast) {
        const Place place = resolve(to, 4, "noc_semaphore_set_remote", true, noc);
        if (place.space != Space::L1) fault("semaphore-missing", "noc_semaphore_set_remote to an address in DRAM");
        cores.push_back(place.unit);
        address = place.address;
        t.clock += machine.chip.issue;
        ++t.core->counts.l1_writes, t.core->counts.l1_write_bytes += 4;
    } else {
        cores = resolve_multicast(t, to, receivers, cast, noc, &address);
        time_multicast(t, cores, 4, noc, t.write_trid[noc], path_open, linked);
        ++t.core->counts.multicasts, t.core->counts.multicast_bytes += 4;
    }
    if ((source & 15) != (address & 15))
        fault("alignment", format("semaphore write: 0x%x here and 0x%x there differ modulo 16", source, address));
    const uint64_t id = machine.next_transfer++;
    add_in_flight(*t.core, {source, source + 4, false, &t, id, t.pc});
    t.sends.push_back(id);
    for (const uint16_t index : cores) {
        deliver_sent(t, index, noc);
        post(message(t, machine.cores[index], address, value, false, word_arrives(t, index, noc)));
    }
}

void lb_inline_write(uint64_t to, uint32_t value, uint8_t byte_enable, uint8_t noc) {
    Thread& t = enter_noc(__builtin_return_address(0), noc);
    check_linked(t, false, false, noc);
    if (byte_enable != 0xF) fault("not-modelled", "noc_inline_dw_write with byte enables other than 0xF");
    const Place place = resolve(to, 4, "noc_inline_dw_write", true, noc);
    if (place.space != Space::L1) fault("not-modelled", "noc_inline_dw_write to DRAM");
    deliver_sent(t, place.unit, noc);
    ++t.core->counts.l1_writes, t.core->counts.l1_write_bytes += 4;
    t.clock += machine.chip.issue;
    post(message(t, machine.cores[place.unit], place.address, value, false, word_arrives(t, place.unit, noc)));
}
}
