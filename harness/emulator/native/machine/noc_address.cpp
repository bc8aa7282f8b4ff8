// Turning what kernels pass around into places, with every check the hardware would not make.
#include <algorithm>

#include "noc.h"

namespace lb {

namespace {

// The buffer that begins at or below an address. They are sorted, and do not overlap.
Buffer* buffer_below(Space space, uint32_t address) {
    const auto after = [space](uint32_t a, const Buffer& b) {
        return space != b.space ? space < b.space : a < b.address;
    };
    const auto it = std::upper_bound(machine.buffers.begin(), machine.buffers.end(), address, after);
    return it != machine.buffers.begin() && it[-1].space == space ? &it[-1] : nullptr;
}

// The bank with an endpoint at NoC coordinates; -1 for none.
int bank_at(int x, int y) {
    const int column = x - kDramX, row = y - kDramY;
    if (column < 0 || row < 0 || row >= kBanksAColumn * kEndpoints) return -1;
    const int bank = column * kBanksAColumn + row / kEndpoints;
    return bank < machine.banks ? bank : -1;
}

// Requests of both NoCs at one endpoint are dropped, and a bank used through endpoints in turn can deadlock.
void check_endpoint(int bank, int endpoint, const char* what, uint8_t noc) {
    if (endpoint == endpoint_of(bank, noc)) return;
    const char* whose = endpoint == endpoint_of(bank, 1 - noc) ? "the other NoC's" : "neither NoC's";
    fault("dram-endpoint", format("%s on NoC %d at %s endpoint of DRAM bank %d, which drops requests or hangs: take "
                                  "the address for the NoC that uses it (the last argument of get_noc_addr)",
                                  what, noc, whose, bank));
}

int bank_count(Space space) { return space == Space::Dram ? machine.banks : machine.grid_x * machine.grid_y; }

Buffer* dram_buffer(const Place& p, uint32_t bytes, const char* what) {
    Buffer* b = buffer_below(Space::Dram, p.address);
    const uint32_t size = b ? b->bytes_in_bank(p.unit, uint32_t(machine.banks)) : 0;
    if (b && p.address + uint64_t{bytes} <= b->address + uint64_t{size}) return b;
    const std::string near = b ? format("; the tensor below it, at 0x%x, has %u B in this bank", b->address, size) : "";
    fault("outside-buffer", format("%s of %u B at DRAM bank %u address 0x%x lies in no tensor%s", what, bytes, p.unit,
                                   p.address, near.c_str()));
}

}  // namespace

// A NoC counts what both RISCs of a core ask of it, a RISC what it asks itself; barriers wait until the two agree.
Thread& enter_noc(void* return_address, uint8_t noc) {
    Thread& t = enter(return_address);
    if (noc != t.kernel->noc)
        fault("other-noc",
              format("this kernel has NoC %d and uses NoC %d, which is the other RISC's (DM_DEDICATED_NOC): "
                     "barriers of both would wait for counts that never agree",
                     t.kernel->noc, noc));
    return t;
}

uint32_t own_l1(Thread& t, uint32_t address, const char* what) {
    if (address < kL1Bytes) return address;
    const uint64_t offset = address - uint64_t{kWindows};
    if (address < kWindows || offset / kWindowBytes >= machine.cores.size() || offset % kWindowBytes >= kL1Bytes)
        fault("outside-buffer",
              format("%s: 0x%x is no address of this core's L1 (a pointer to a local variable?)", what, address));
    if (offset / kWindowBytes != t.core->index)
        fault("outside-buffer",
              format("%s: 0x%x was computed on another core; take get_write_ptr() and the like on the "
                     "core that uses them",
                     what, uint32_t(offset % kWindowBytes)));
    return uint32_t(offset % kWindowBytes);
}

Place resolve(uint64_t address, uint32_t bytes, const char* what, bool write, uint8_t noc) {
    const int x = int(address >> kLocalBits) & 63, y = int(address >> (kLocalBits + kNodeBits)) & 63;
    const uint64_t local = address & ((uint64_t{1} << kLocalBits) - 1);
    if (const int bank = bank_at(x, y); bank >= 0) {
        check_endpoint(bank, (y - kDramY) % kEndpoints, what, noc);
        Place p{Space::Dram, uint16_t(bank), uint32_t(local)};
        p.buffer = dram_buffer(p, bytes, what);
        p.buffer->written |= write;
        return p;
    }
    const Core* core = machine.core_at(x, y);
    if (!core)
        fault("bad-coordinates", format("%s: there is no core or DRAM bank at NoC coordinates (%d,%d); use virtual "
                                        "coordinates (worker_core_from_logical_core)",
                                        what, x, y));
    const auto l1 = uint32_t(local % kWindowBytes);
    if ((local >= kL1Bytes && local < kWindows) || l1 + uint64_t{bytes} > kL1Bytes)
        fault("outside-buffer", format("%s of %u B at address 0x%lx of core (%d,%d) is beyond its 1.5 MB of L1", what,
                                       bytes, local, core->x, core->y));
    return {Space::L1, core->index, l1};
}

std::vector<uint16_t> resolve_multicast(Thread& t, uint64_t address, uint32_t receivers, Cast cast, uint8_t noc,
                                        uint32_t* l1) {
    const auto field = [&](int k) { return int(address >> (kLocalBits + k * kNodeBits)) & 63; };
    int x1 = field(2), y1 = field(3), x2 = field(0), y2 = field(1);
    if (noc == 1) {
        std::swap(x1, x2);
        std::swap(y1, y2);
    }
    if (x1 > x2 || y1 > y2)
        fault("multicast-rectangle",
              format("the multicast rectangle (%d,%d)-(%d,%d) is empty on NoC %d: NoC 0 goes from "
                     "top left to bottom right, NoC 1 the other way",
                     field(2), field(3), field(0), field(1), noc));
    std::vector<uint16_t> cores;
    bool self = false;
    for (int y = y1; y <= y2; ++y) {
        for (int x = x1; x <= x2; ++x) {
            const Core* core = machine.core_at(x, y);
            if (!core) continue;
            if (core == t.core && cast == Cast::Multicast) {
                self = true;
                continue;
            }
            cores.push_back(core->index);
        }
    }
    if (cores.size() != receivers)
        fault("multicast-count", format("the multicast says %u receivers, its rectangle (%d,%d)-(%d,%d) has %zu%s: the "
                                        "NoC would wait for acknowledgements that never come",
                                        receivers, x1, y1, x2, y2, cores.size(), self ? " besides the sender" : ""));
    *l1 = uint32_t((address & ((uint64_t{1} << kLocalBits) - 1)) % kWindowBytes);
    return cores;
}

void check_linked(Thread& t, bool multicast, bool linked, uint8_t noc) {
    if (t.linked[noc] && !multicast)
        fault("linked-multicast",
              "a linked multicast is open on this NoC and another kind of write follows: the NoC hangs; "
              "close the link with an unlinked multicast first");
    t.linked[noc] = linked;
}

}  // namespace lb

using namespace lb;

extern "C" {

uint64_t lb_page_address(bool dram, uint32_t base, uint32_t page_bytes, uint32_t page, uint32_t offset, uint8_t noc) {
    Thread& t = *machine.running;
    t.pc = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
    const Space space = dram ? Space::Dram : Space::L1;
    const auto banks = uint32_t(bank_count(space));
    const uint32_t align = dram ? kDramAlignment : kL1Alignment;
    const uint32_t stride = (page_bytes + align - 1) / align * align;
    if (const Buffer* b = buffer_below(space, base); b && b->address == base) {
        if (stride != b->stride)
            fault("page-size", format("the accessor's pages have %u B, the tensor at 0x%x has pages of %u B",
                                      page_bytes, base, b->page));
        if (page >= b->pages)
            fault("outside-buffer", format("page %u of the tensor at 0x%x, which has %u pages", page, base, b->pages));
    }
    return lb_bank_address(dram, page % banks, base + page / banks * stride + offset, noc);
}

uint64_t lb_bank_address(bool dram, uint32_t bank, uint32_t address, uint8_t noc) {
    if (dram)
        return noc_address(kDramX + int(bank) / kBanksAColumn,
                           kDramY + int(bank) % kBanksAColumn * kEndpoints + endpoint_of(int(bank), noc), address);
    const Core& core = machine.cores[bank % machine.cores.size()];
    return noc_address(core.noc_x, core.noc_y, address);
}
}
