// The profiler's zones name the phases of a timeline. They take no time here, and nothing is kept unless it is asked
// for.
#pragma once

#include "lb/abi.h"

namespace lb {
struct ProfileScope {
    __attribute__((always_inline)) explicit ProfileScope(const char* name) { lb_phase_begin(name); }
    __attribute__((always_inline)) ~ProfileScope() { lb_phase_end(); }
    ProfileScope(const ProfileScope&) = delete;
};
}  // namespace lb

// The variable has the name it has on the device: two zones in one block do not compile there with the profiler on.
#define DeviceZoneScopedN(name) lb::ProfileScope zone(name)
