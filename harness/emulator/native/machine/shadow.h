// What is known about each 16 B granule of a core's L1: which bytes were written, who wrote and read last, whether the
// granule belongs to anything, whether a transfer in flight touches it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "clock.h"

namespace lb {

struct Granule {
    Epoch written, read;
    uint16_t initialised, write_mask, read_mask, in_flight;
    uintptr_t write_pc, read_pc;
};

struct Shadow {
    static constexpr uint32_t kGranule = 16;
    Granule* granules = nullptr;  // calloc: most of it is never touched
    std::vector<bool> owned;

    void create(uint32_t bytes) {
        granules = static_cast<Granule*>(calloc(bytes / kGranule, sizeof(Granule)));
        owned.assign(bytes / kGranule, false);
    }
    Granule& at(uint32_t address) { return granules[address / kGranule]; }
    // The bytes of [begin, end) that lie in the granule at g.
    static uint16_t mask(uint32_t g, uint32_t begin, uint32_t end) {
        const uint32_t lo = begin > g ? begin - g : 0, hi = end < g + kGranule ? end - g : kGranule;
        return uint16_t(((1u << hi) - 1) & ~((1u << lo) - 1));
    }
    void own(uint32_t begin, uint32_t bytes, bool initialised);
};

}  // namespace lb
