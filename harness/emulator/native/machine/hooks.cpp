// Every load and store of a kernel, seen: kernels are compiled with the thread sanitizer's instrumentation, whose calls
// end here. So a plain pointer into L1 is checked like a transfer.
#include <cstring>

#include "fault.h"
#include "noc.h"

using namespace lb;

namespace {

// The cycle counter's register, as kernels read it.
constexpr uintptr_t kWallClockLow = 0xFFB121F0, kWallClockHigh = 0xFFB121F8;

[[gnu::always_inline]] inline void access(const void* p, uint32_t bytes, bool write, bool is_volatile, void* pc) {
    const auto address = reinterpret_cast<uintptr_t>(p);
    if (address >> 32 && !machine.sample) return;  // stack, constants
    if (!machine.running) return;
    Thread& t = *machine.running;
    t.pc = reinterpret_cast<uintptr_t>(pc);
    machine.sample = false;
    if (address >> 32) return;
    if (address == kWallClockLow || address == kWallClockHigh) {
        *reinterpret_cast<uint32_t*>(address) = uint32_t(address == kWallClockLow ? t.clock : t.clock >> 32);
        return;
    }
    if (address < kL1Bytes)
        fault("outside-buffer", format("0x%lx is used as a pointer: a device address from the host is no pointer here, "
                                       "use it with the NoC and semaphore calls",
                                       address));
    const uint32_t l1 = own_l1(t, uint32_t(address), "a load or store");
    if (is_semaphore(*t.core, l1)) {
        if (write) {
            semaphore_stored(t, l1);
        } else {
            poll(t, address);
            const Semaphore& s = semaphore_at(*t.core, l1);
            t.acquire(s.released);
            wait_until(t, s.changes.empty() ? s.stored_at : s.changes.back().time, Stall::Semaphore);
        }
        return;
    }
    t.clock += write ? machine.chip.store : machine.chip.load;
    if (is_volatile && !write) poll(t, address);
    if (write) {
        ++machine.progress;
        check_write(*t.core, l1, bytes, t, By::Cpu, t.pc);
    } else {
        check_read(*t.core, l1, bytes, t, By::Cpu, t.pc);
    }
}

}  // namespace

#define LB_HOOKS(n)                                                                                             \
    void __tsan_read##n(void* p) { access(p, n, false, false, __builtin_return_address(0)); }                   \
    void __tsan_write##n(void* p) { access(p, n, true, false, __builtin_return_address(0)); }                   \
    void __tsan_volatile_read##n(void* p) { access(p, n, false, true, __builtin_return_address(0)); }           \
    void __tsan_volatile_write##n(void* p) { access(p, n, true, true, __builtin_return_address(0)); }           \
    void __tsan_unaligned_read##n(void* p) { access(p, n, false, false, __builtin_return_address(0)); }         \
    void __tsan_unaligned_write##n(void* p) { access(p, n, true, false, __builtin_return_address(0)); }         \
    void __tsan_unaligned_volatile_read##n(void* p) { access(p, n, false, true, __builtin_return_address(0)); } \
    void __tsan_unaligned_volatile_write##n(void* p) { access(p, n, true, true, __builtin_return_address(0)); }

extern "C" {

LB_HOOKS(1)
LB_HOOKS(2)
LB_HOOKS(4)
LB_HOOKS(8)
LB_HOOKS(16)

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_read_range(void* p, unsigned long n) { access(p, uint32_t(n), false, false, __builtin_return_address(0)); }
void __tsan_write_range(void* p, unsigned long n) { access(p, uint32_t(n), true, false, __builtin_return_address(0)); }

// The compiler's own calls, and a kernel's: linked with --wrap.
void* __wrap_memcpy(void* to, const void* from, unsigned long n) {
    if (n) access(from, uint32_t(n), false, false, __builtin_return_address(0));
    if (n) access(to, uint32_t(n), true, false, __builtin_return_address(0));
    return memcpy(to, from, n);
}
void* __wrap_memmove(void* to, const void* from, unsigned long n) {
    if (n) access(from, uint32_t(n), false, false, __builtin_return_address(0));
    if (n) access(to, uint32_t(n), true, false, __builtin_return_address(0));
    return memmove(to, from, n);
}
void* __wrap_memset(void* to, int value, unsigned long n) {
    if (n) access(to, uint32_t(n), true, false, __builtin_return_address(0));
    return memset(to, value, n);
}
}
