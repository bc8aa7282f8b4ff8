// Profiler zones compile to nothing: the emulator counts by itself.
#pragma once

#define DeviceZoneScopedN(name)
