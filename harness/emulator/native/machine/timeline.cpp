// Recording and printing of timelines.
#include "timeline.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

#include "fault.h"

namespace lb {

void Timeline::moved(bool write, uint64_t begin, uint64_t cycles, uint32_t bytes) {
    std::vector<double>& slots = write ? written : read;
    const uint64_t end = begin + cycles;
    if (slots.size() <= end / kSlot) slots.resize(end / kSlot + 1);
    for (uint64_t slot = begin / kSlot; slot <= end / kSlot; ++slot) {
        const uint64_t from = std::max(begin, slot * kSlot), to = std::min(end, (slot + 1) * kSlot);
        slots[slot] += double(bytes) * double(to - from) / double(cycles);
    }
}

namespace {

// The index of a value in a list of those that came up.
template <class Key, class Less = std::less<Key>>
struct Numbered {
    std::vector<Key> values;
    std::map<Key, size_t, Less> known;

    size_t operator()(Key value) {
        const auto [it, added] = known.try_emplace(value, values.size());
        if (added) values.push_back(value);
        return it->second;
    }
};

struct ByText {
    bool operator()(const char* a, const char* b) const { return strcmp(a, b) < 0; }
};

void print_slots(const char* name, const std::vector<double>& slots) {
    printf("\"%s\": [", name);
    for (size_t i = 0; i < slots.size(); ++i) printf("%s%.0f", i ? "," : "", slots[i]);
    printf("]");
}

}  // namespace

void print_timeline() {
    Numbered<uintptr_t> places;
    Numbered<const char*, ByText> names;
    printf("{\"slot_cycles\": %lu, ", Timeline::kSlot);
    print_slots("dram_read", machine.timeline.read);
    printf(", ");
    print_slots("dram_written", machine.timeline.written);
    printf(", \"threads\": [");
    const char* comma = "";
    for (const Thread& t : machine.threads) {
        printf("%s{\"core\": [%d, %d], \"thread\": \"%s\", \"waits\": [", comma, t.core->x, t.core->y,
               role_name(t.role));
        comma = ",\n";
        const char* inner = "";
        for (const Waited& w : t.spans.waits) {
            printf("%s[%lu,%lu,%d,%zu]", inner, w.begin, w.end, int(w.why), places(w.pc));
            inner = ",";
        }
        printf("], \"phases\": [");
        inner = "";
        for (const Phase& p : t.spans.phases) {
            printf("%s[%lu,%lu,%zu]", inner, p.begin, p.end, names(p.name));
            inner = ",";
        }
        printf("]}");
    }
    printf("], \"causes\": [");
    for (int i = 0; i < kStalls; ++i) printf("%s\"%s\"", i ? ", " : "", kStallNames[i]);
    printf("], \"places\": [");
    for (size_t i = 0; i < places.values.size(); ++i)
        printf("%s%s", i ? ", " : "", location(nullptr, places.values[i]).c_str());
    printf("], \"names\": [");
    for (size_t i = 0; i < names.values.size(); ++i) printf("%s%s", i ? ", " : "", quoted(names.values[i]).c_str());
    printf("]}");
}

}  // namespace lb

using namespace lb;

extern "C" {

void lb_phase_begin(const char* name) {
    Thread& t = *machine.running;
    if (!machine.timeline.on) return;
    t.spans.open.push_back(t.spans.phases.size());
    t.spans.phases.push_back({t.clock, t.clock, name});
}

void lb_phase_end() {
    Thread& t = *machine.running;
    if (!machine.timeline.on) return;
    t.spans.phases[t.spans.open.back()].end = t.clock;
    t.spans.open.pop_back();
}
}
