// Order of accesses to DRAM: writes in flight, and who wrote each 16 B during this program.
#include <unordered_map>

#include "noc.h"

namespace lb {

namespace {

struct Written {
    Epoch epoch;
    uintptr_t pc;
    uint32_t in_flight;
};

constexpr uint32_t kLine = 16;
std::unordered_map<uint64_t, Written> written;

uint64_t line(uint16_t bank, uint32_t address) { return (uint64_t{bank} << 32) | (address / kLine); }

template <class Do>
void for_lines(const Place& p, uint32_t bytes, Do run) {
    for (uint32_t a = p.address & ~(kLine - 1); a < uint64_t{p.address} + bytes; a += kLine) run(line(p.unit, a));
}

}  // namespace

void count_dram(const Place& p, uint32_t bytes, bool write) {
    Buffer& b = *p.buffer;
    const uint32_t lines_a_bank = b.bytes_in_bank(0, uint32_t(machine.banks)) / kDramAlignment;
    if (b.moved.empty()) b.moved.resize(size_t(lines_a_bank) * uint32_t(machine.banks));
    const uint32_t first = (p.address - b.address) / kDramAlignment;
    const uint32_t last = (p.address - b.address + bytes - 1) / kDramAlignment;
    const uint8_t bit = write ? 2 : 1;
    uint8_t* moved = b.moved.data() + size_t(lines_a_bank) * p.unit;
    for (uint32_t i = first; i <= last; ++i) {
        if (!(moved[i] & bit)) machine.dram_once_bytes += kDramAlignment;
        moved[i] |= bit;
    }
}

void check_dram_read(Thread& t, const Place& p, uint32_t bytes) {
    if (!p.buffer->written) return;
    for_lines(p, bytes, [&](uint64_t key) {
        const auto it = written.find(key);
        if (it == written.end()) return;
        const Written& w = it->second;
        const Thread& o = machine.threads[epoch_thread(w.epoch)];
        if (w.in_flight)
            fault("missing-write-barrier",
                  format("noc_async_read of DRAM bank %u address 0x%x while a write to it is in flight: "
                         "noc_async_write_barrier() is missing",
                         p.unit, p.address),
                  {{"the write", &o, w.pc}});
        if (!t.has_seen(w.epoch))
            fault("race",
                  format("noc_async_read of DRAM bank %u address 0x%x, and nothing orders it after the write of %s",
                         p.unit, p.address, who(o).c_str()),
                  {{"the write", &o, w.pc}});
    });
}

void add_dram_write(Thread& t, const Transfer& w) {
    for_lines(w.to, w.bytes, [&](uint64_t key) {
        Written& s = written[key];
        if (s.epoch && !t.has_seen(s.epoch)) {
            const Thread& o = machine.threads[epoch_thread(s.epoch)];
            fault("race",
                  format("noc_async_write to DRAM bank %u address 0x%x, and nothing orders it after the write of %s",
                         w.to.unit, w.to.address, who(o).c_str()),
                  {{"the write", &o, s.pc}});
        }
        s.epoch = t.epoch();
        s.pc = w.pc;
        ++s.in_flight;
    });
}

void drop_dram_write(Thread& t, const Transfer& w) {
    for_lines(w.to, w.bytes, [&](uint64_t key) {
        Written& s = written[key];
        s.epoch = t.epoch();
        --s.in_flight;
    });
}

}  // namespace lb
