// The machine without virtual time: stands in for native/machine/timing.cpp, to measure what that costs.
#include "machine.h"

namespace lb {

const char* const kStallNames[kStalls] = {"read", "write", "CB full", "CB empty", "semaphore", "registers", "start"};

bool Chip::set(const std::string&, double) { return false; }
void print_constants() {}
void wait_until(Thread&, uint64_t, Stall) {}
void time_read(Thread&, const Transfer&) {}
void time_write(Thread&, const Transfer&) {}
void time_multicast(Thread&, const std::vector<uint16_t>&, uint32_t, uint8_t, uint8_t, bool, bool) {}
uint64_t word_arrives(Thread&, uint16_t, uint8_t) { return 0; }
void await(Thread&, const uint64_t (&)[2][16], uint8_t, int, Stall) {}

}  // namespace lb
