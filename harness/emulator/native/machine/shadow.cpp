// Checks of every access to L1: inside something, initialised, ordered, and not under a transfer in flight.
#include "fault.h"
#include "machine.h"

namespace lb {

namespace {

const char* by_name(By by) {
    switch (by) {
        case By::Cpu:
            return "the kernel's own access";
        case By::Noc:
            return "a NoC transfer";
        case By::Unpacker:
            return "the unpacker";
        default:
            return "the packer";
    }
}

[[noreturn]] void outside(Core& core, uint32_t address, uint32_t bytes, Thread& t, By by, uintptr_t pc, bool write) {
    fault("outside-buffer", &t, pc,
          format("%s %s %u B at L1 0x%x of core (%d,%d), which belongs to no circular buffer, semaphore or tensor",
                 by_name(by), write ? "writes" : "reads", bytes, address, core.x, core.y));
}

// The transfer in flight that the access runs into, if any.
void check_transfers(Core& core, uint32_t begin, uint32_t end, Thread& t, By by, uintptr_t pc, bool write,
                     uint64_t transfer) {
    for (const InFlight& f : core.in_flight) {
        if (f.transfer == transfer || f.end <= begin || end <= f.begin || (!write && !f.write)) continue;
        if (write && f.write && f.owner != &t)
            fault(
                "race", &t, pc,
                format("%s writes L1 %s of core (%d,%d) while a transfer of %s writes it too, and nothing orders them",
                       by_name(by), l1_name(core, begin > f.begin ? begin : f.begin).c_str(), core.x, core.y,
                       who(*f.owner).c_str()),
                {{"the other write", f.owner, f.pc}});
        const bool is_read = f.write && f.owner->core == &core;
        const char* missing = !f.write  ? "noc_async_writes_flushed() or noc_async_write_barrier()"
                              : is_read ? "noc_async_read_barrier()"
                                        : "noc_async_write_barrier()";
        fault(f.write ? (is_read ? "missing-read-barrier" : "missing-write-barrier") : "missing-write-flush", &t, pc,
              format("%s %s L1 %s while a transfer that still %s it is in flight: %s is missing", by_name(by),
                     write ? "writes" : "reads", l1_name(core, begin > f.begin ? begin : f.begin).c_str(),
                     f.write ? "writes" : "reads", missing),
              {{"issued here", f.owner, f.pc}});
    }
}

[[noreturn]] void race(Core& core, uint32_t address, Thread& t, By by, uintptr_t pc, bool write, Epoch other,
                       uintptr_t other_pc, bool other_write) {
    const Thread& o = machine.threads[epoch_thread(other)];
    fault("race", &t, pc,
          format("%s %s L1 %s of core (%d,%d), and nothing orders it after the %s of %s", by_name(by),
                 write ? "writes" : "reads", l1_name(core, address).c_str(), core.x, core.y,
                 other_write ? "write" : "read", who(o).c_str()),
          {{other_write ? "the write" : "the read", &o, other_pc}});
}

[[noreturn]] void uninitialised(Core& core, uint32_t address, Thread& t, By by, uintptr_t pc) {
    fault("uninitialised-read", &t, pc,
          format("%s reads L1 %s of core (%d,%d), which nothing has written", by_name(by),
                 l1_name(core, address).c_str(), core.x, core.y));
}

}  // namespace

void Shadow::own(uint32_t begin, uint32_t bytes, bool initialised) {
    for (uint32_t g = begin / kGranule; g * kGranule < begin + bytes; ++g) {
        owned[g] = true;
        granules[g].initialised = initialised ? 0xFFFF : 0;
    }
}

void check_read(Core& core, uint32_t address, uint32_t bytes, Thread& t, By by, uintptr_t pc, uint64_t transfer) {
    const uint32_t end = address + bytes;
    bool moving = false, anything = by != By::Noc;
    for (uint32_t g = address & ~(Shadow::kGranule - 1); g < end; g += Shadow::kGranule) {
        Granule& s = core.shadow.at(g);
        const uint16_t mask = Shadow::mask(g, address, end);
        if (!core.shadow.owned[g / Shadow::kGranule]) outside(core, address, bytes, t, by, pc, false);
        moving |= s.in_flight != 0;
        if (s.written && (s.write_mask & mask) && !t.has_seen(s.written)) {
            if (moving) check_transfers(core, address, end, t, by, pc, false, transfer);
            race(core, g, t, by, pc, false, s.written, s.write_pc, true);
        }
        if (by == By::Noc) {
            anything |= (s.initialised & mask) != 0;
        } else if ((s.initialised & mask) != mask) {
            if (moving) check_transfers(core, address, end, t, by, pc, false, transfer);
            uninitialised(core, g, t, by, pc);
        }
        if (s.read != t.epoch()) {
            s.read_mask = epoch_thread(s.read) == t.id ? uint16_t(s.read_mask | mask) : mask;
            s.read = t.epoch();
        } else {
            s.read_mask |= mask;
        }
        s.read_pc = pc;
    }
    if (moving) check_transfers(core, address, end, t, by, pc, false, transfer);
    // A transfer may carry padding that was never written, but not that alone.
    if (!anything) uninitialised(core, address, t, by, pc);
}

std::vector<uint16_t> initialised_in(const Core& core, uint32_t address, uint32_t bytes) {
    const uint32_t first = address / Shadow::kGranule, last = (address + bytes - 1) / Shadow::kGranule;
    bool all = true;
    for (uint32_t g = first; g <= last; ++g) all &= core.shadow.granules[g].initialised == 0xFFFF;
    if (all) return {};
    std::vector<uint16_t> masks;
    for (uint32_t g = first; g <= last; ++g) masks.push_back(core.shadow.granules[g].initialised);
    return masks;
}

void spread_uninitialised(Core& core, uint32_t address, uint32_t bytes, const std::vector<uint16_t>& source) {
    for (size_t i = 0; i < source.size(); ++i) {
        const uint32_t g = (address / Shadow::kGranule + uint32_t(i)) * Shadow::kGranule;
        core.shadow.at(g).initialised &= uint16_t(source[i] | ~Shadow::mask(g, address, address + bytes));
    }
}

void check_write(Core& core, uint32_t address, uint32_t bytes, Thread& t, By by, uintptr_t pc, uint64_t transfer) {
    const uint32_t end = address + bytes;
    bool moving = false;
    for (uint32_t g = address & ~(Shadow::kGranule - 1); g < end; g += Shadow::kGranule) {
        Granule& s = core.shadow.at(g);
        const uint16_t mask = Shadow::mask(g, address, end);
        if (!core.shadow.owned[g / Shadow::kGranule]) outside(core, address, bytes, t, by, pc, true);
        moving |= s.in_flight != 0;
        if (moving) check_transfers(core, address, end, t, by, pc, true, transfer);
        if (s.written && (s.write_mask & mask) && !t.has_seen(s.written))
            race(core, g, t, by, pc, true, s.written, s.write_pc, true);
        if (s.read && (s.read_mask & mask) && !t.has_seen(s.read))
            race(core, g, t, by, pc, true, s.read, s.read_pc, false);
        s.initialised |= mask;
        s.write_mask = s.written && epoch_thread(s.written) == t.id ? uint16_t(s.write_mask | mask) : mask;
        s.written = t.epoch();
        s.write_pc = pc;
    }
}

void count_in_flight(Core& core, uint32_t begin, uint32_t end, int by) {
    for (uint32_t g = begin & ~(Shadow::kGranule - 1); g < end; g += Shadow::kGranule) {
        core.shadow.at(g).in_flight = uint16_t(core.shadow.at(g).in_flight + by);
    }
}

void add_in_flight(Core& core, InFlight range) {
    count_in_flight(core, range.begin, range.end, 1);
    core.in_flight.push_back(range);
}

void drop_in_flight(Core& core, uint64_t transfer, bool write) {
    auto& list = core.in_flight;
    for (size_t i = 0; i < list.size(); ++i) {
        if (list[i].transfer != transfer || list[i].write != write) continue;
        count_in_flight(core, list[i].begin, list[i].end, -1);
        list[i] = list.back();
        list.pop_back();
        return;
    }
}

void check_handed_over(Thread& t, uint32_t cb, uint32_t begin, uint32_t bytes, bool pushed) {
    for (const InFlight& f : t.core->in_flight) {
        if (f.owner != &t || f.end <= begin || begin + bytes <= f.begin || f.write != pushed) continue;
        fault(pushed ? "missing-read-barrier" : "missing-write-flush",
              format(pushed ? "cb_push_back of cb %u hands over %s while a noc_async_read into it is in flight: "
                              "noc_async_read_barrier() must come first"
                            : "cb_pop_front of cb %u gives back %s while a noc_async_write still reads it: "
                              "noc_async_writes_flushed() or noc_async_write_barrier() must come first",
                     cb, l1_name(*t.core, begin > f.begin ? begin : f.begin).c_str()),
              {{"issued here", &t, f.pc}});
    }
}

}  // namespace lb
