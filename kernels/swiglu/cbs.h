// Circular buffers of swiglu besides those of split_linear.h.
#pragma once

#include "../shared/split_cbs.h"

constexpr uint32_t CB_H = 6;  // the normed input, [rows][hidden], on every core
