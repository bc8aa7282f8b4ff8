// What a core of swiglu does. The idle ones exist for the multicast, which reaches the whole grid.
#pragma once

#include <cstdint>

enum Role : uint32_t { IDLE, WORKER, LEADER };

// Semaphores: the half of the input sent over each NoC is here.
constexpr uint32_t ARRIVED[] = {2, 3};
