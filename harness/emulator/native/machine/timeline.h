// What a picture of a run needs: each thread's waits and phases, and what DRAM moved when. Kept on request only.
#pragma once

#include <cstdint>
#include <vector>

#include "timing.h"

namespace lb {

// Cycles that a thread stood still, and the call of the kernel in which it did.
struct Waited {
    uint64_t begin, end;
    Stall why;
    uintptr_t pc;
};

// A phase that a kernel names; phases of one thread nest.
struct Phase {
    uint64_t begin, end;
    const char* name;  // in the kernel's own object
};

struct Spans {
    std::vector<Waited> waits;
    std::vector<Phase> phases;  // in the order of their begins
    std::vector<size_t> open;
};

struct Timeline {
    static constexpr uint64_t kSlot = 512;  // cycles
    bool on = false;
    std::vector<double> read, written;  // bytes of DRAM in each slot

    // `bytes` that a bank moves from `begin` on.
    void moved(bool write, uint64_t begin, uint64_t cycles, uint32_t bytes);
};

void print_timeline();

}  // namespace lb
