// Vector clocks: what each thread has seen of the others. Two accesses that neither clock orders are a race.
#pragma once

#include <cstdint>
#include <vector>

namespace lb {

struct VectorClock {
    std::vector<uint32_t> seen;

    void join(const VectorClock& other) {
        if (seen.size() < other.seen.size()) seen.resize(other.seen.size());
        uint32_t* a = seen.data();
        const uint32_t* b = other.seen.data();
        for (size_t i = 0, n = other.seen.size(); i < n; ++i) a[i] = a[i] < b[i] ? b[i] : a[i];
    }
    void clear() { seen.clear(); }
};

// One thread's moment, packed: thread in the high 10 bits, its own count of releases below. 0 is "never".
using Epoch = uint32_t;
constexpr int kEpochBits = 22;
inline Epoch make_epoch(uint32_t thread, uint32_t tick) { return (thread << kEpochBits) | tick; }
inline uint32_t epoch_thread(Epoch e) { return e >> kEpochBits; }
inline uint32_t epoch_tick(Epoch e) { return e & ((1u << kEpochBits) - 1); }

}  // namespace lb
