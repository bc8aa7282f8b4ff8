#include "fiber.h"

#include <sys/mman.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace lb {

static char* allocate_stack() {
    const size_t bytes = Fiber::kGuardBytes + Fiber::kStackBytes;
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        perror("fiber stack");
        exit(1);
    }
    mprotect(p, Fiber::kGuardBytes, PROT_NONE);
    return static_cast<char*>(p);
}

#if defined(__x86_64__)

asm(R"(
.text
.globl lb_switch_stacks
.type lb_switch_stacks, @function
lb_switch_stacks:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.globl lb_enter_fiber
.type lb_enter_fiber, @function
lb_enter_fiber:
    movq %r13, %rdi
    call *%r12
    ud2
)");
extern "C" void lb_switch_stacks(void** from, void* to);
extern "C" void lb_enter_fiber();

void Fiber::start(void (*entry)(void*), void* arg) {
    if (!stack) stack = allocate_stack();
    auto* top = reinterpret_cast<uint64_t*>(stack + kGuardBytes + kStackBytes) - 2;
    *--top = reinterpret_cast<uint64_t>(&lb_enter_fiber);
    *--top = 0;                                  // rbp
    *--top = 0;                                  // rbx
    *--top = reinterpret_cast<uint64_t>(entry);  // r12
    *--top = reinterpret_cast<uint64_t>(arg);    // r13
    *--top = 0;                                  // r14
    *--top = 0;                                  // r15
    context = top;
}

void switch_to(void** from, void* to) { lb_switch_stacks(from, to); }

#else

static void enter(unsigned entry_hi, unsigned entry_lo, unsigned arg_hi, unsigned arg_lo) {
    const auto join = [](unsigned hi, unsigned lo) { return (uint64_t{hi} << 32) | lo; };
    reinterpret_cast<void (*)(void*)>(join(entry_hi, entry_lo))(reinterpret_cast<void*>(join(arg_hi, arg_lo)));
}

void Fiber::start(void (*entry)(void*), void* arg) {
    if (!stack) stack = allocate_stack();
    auto* c = new ucontext_t;
    getcontext(c);
    c->uc_stack.ss_sp = stack + kGuardBytes;
    c->uc_stack.ss_size = kStackBytes;
    const auto e = reinterpret_cast<uint64_t>(entry), a = reinterpret_cast<uint64_t>(arg);
    makecontext(c, reinterpret_cast<void (*)()>(enter), 4, unsigned(e >> 32), unsigned(e), unsigned(a >> 32),
                unsigned(a));
    context = c;
}

void switch_to(void** from, void* to) {
    if (!*from) *from = new ucontext_t;
    swapcontext(static_cast<ucontext_t*>(*from), static_cast<ucontext_t*>(to));
}

#endif

}  // namespace lb
