// What a core is, and the semaphores of the program.
#pragma once

#include <cstdint>

#include "cbs.h"

namespace attention {

constexpr uint32_t IDLE = 0, WORKER = 1, FEEDER = 2;

constexpr uint32_t TOPS_ARRIVED = ATTENTION_SEMAPHORES;  // at an owner: from so many workers
constexpr uint32_t TOTALS_ARRIVED = TOPS_ARRIVED + 1;
constexpr uint32_t SUMS_ARRIVED = TOPS_ARRIVED + 2;
constexpr uint32_t QUERIES_ARRIVED = TOPS_ARRIVED + 3;  // at a worker: parts of the queries
constexpr uint32_t BANK_ARRIVED = TOPS_ARRIVED + 4;     // at a worker: pages from bank 0; the other banks' follow

}  // namespace attention
