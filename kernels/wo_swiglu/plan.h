// Circular buffers and semaphores of wo_swiglu besides those of the norm's leaders. Formats stand in the
// implementation's table.
#pragma once

#include "../shared/norm_leader.h"
#include "../shared/split_cbs.h"

constexpr SplitCbs WO{1, 2, 3, 4, 5, 16};       // o wo + x; two copies of the sum, the second is W2's residual
constexpr SplitCbs W2{18, 19, 20, 21, 17, 22};  // the product of w1 and w3 through w2, + x1
static_assert(W2.x == WO.out + 1);

// The semaphores of wo are 0 and 1.
constexpr uint32_t W2_SEMAPHORES = 6;
constexpr uint32_t FILLED = 8;  // on a leader: tiles of x1 that are there
