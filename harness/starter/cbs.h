// Circular buffers of starter; formats and sizes stand in the implementation's table.
#pragma once

#include <cstdint>

constexpr uint32_t CB_X1 = 0;
constexpr uint32_t CB_DOWN = 1;
constexpr uint32_t CB_OUT = 16;
