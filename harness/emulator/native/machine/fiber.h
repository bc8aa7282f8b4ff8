// Fibers: one stack a kernel thread, switched by hand. The machine runs on a single OS thread.
#pragma once

#include <cstddef>

namespace lb {

struct Fiber {
    static constexpr size_t kStackBytes = 256 << 10;
    static constexpr size_t kGuardBytes = 64 << 10;

    void* context = nullptr;
    char* stack = nullptr;

    // Prepares the fiber to run entry(arg) at the first switch to it. entry must not return.
    void start(void (*entry)(void*), void* arg);
    bool guards(const void* address) const { return address >= stack && address < stack + kGuardBytes; }
};

// Saves the running context in *from and goes on at to.
void switch_to(void** from, void* to);

}  // namespace lb
