// ASSERT holds on the emulator, always: on the device it does so under the watcher only.
#pragma once

#include "lb/abi.h"

#define ASSERT(condition, ...)                          \
    do {                                                \
        if (!(condition)) lb_assert_failed(#condition); \
    } while (false)
