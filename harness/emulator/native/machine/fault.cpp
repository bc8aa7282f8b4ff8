#include "fault.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>
#include <cstdio>
#include <cstring>

namespace lb {

std::string format(const char* text, ...) {
    char buffer[2048];
    va_list args;
    va_start(args, text);
    vsnprintf(buffer, sizeof buffer, text, args);
    va_end(args);
    return buffer;
}

const char* role_name(Role role) {
    constexpr const char* names[] = {"RISCV_0", "RISCV_1", "unpack", "math", "pack"};
    return names[int(role)];
}

std::string who(const Thread& t) {
    return format("core (%d,%d) %s %s", t.core->x, t.core->y, t.kernel->name.c_str(), role_name(t.role));
}

std::string l1_name(const Core& core, uint32_t address) {
    for (int i = 0; i < kMaxCbs; ++i) {
        const Cb& cb = core.cbs[i];
        if (cb.exists && address >= cb.base && address < cb.base + cb.size)
            return format("0x%x (cb %d, page %u)", address, i, (address - cb.base) / cb.page);
    }
    if (address >= kSemaphoreBase && address < kSemaphoreBase + kMaxSemaphores * kSemaphoreStride)
        return format("0x%x (semaphore %u)", address, (address - kSemaphoreBase) / kSemaphoreStride);
    for (const Buffer& b : machine.buffers) {
        if (b.space == Space::L1 && address >= b.address &&
            address < b.address + b.bytes_in_bank(core.index, machine.grid_x * machine.grid_y))
            return format("0x%x (L1 tensor at 0x%x)", address, b.address);
    }
    return format("0x%x", address);
}

std::string quoted(const std::string& s) {
    std::string out = "\"";
    for (const char c : s) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) < 0x20) {
            out += format("\\u%04x", c);
        } else {
            out += c;
        }
    }
    return out + "\"";
}

std::string location(const Thread* t, uintptr_t pc) {
    std::string out = "{";
    if (t) {
        out += format("\"core\": [%d, %d], \"thread\": \"%s\", \"kernel\": %s", t->core->x, t->core->y,
                      role_name(t->role), quoted(t->kernel->name).c_str());
    }
    Dl_info info;
    if (pc && dladdr(reinterpret_cast<void*>(pc), &info) && info.dli_fname) {
        out += format("%s\"object\": %s, \"offset\": %lu", t ? ", " : "", quoted(info.dli_fname).c_str(),
                      pc - 1 - reinterpret_cast<uintptr_t>(info.dli_fbase));
    }
    return out + "}";
}

void fault(const char* kind, const Thread* t, uintptr_t pc, const std::string& message,
           const std::vector<Note>& notes) {
    printf("{\"status\": \"fault\", \"kind\": \"%s\", \"message\": %s, \"at\": %s, \"notes\": [", kind,
           quoted(message).c_str(), location(t, pc).c_str());
    for (size_t i = 0; i < notes.size(); ++i) {
        printf("%s{\"text\": %s, \"at\": %s}", i ? ", " : "", quoted(notes[i].text).c_str(),
               location(notes[i].thread, notes[i].pc).c_str());
    }
    printf("]}\n");
    fflush(stdout);
    _exit(0);
}

void fault(const char* kind, const std::string& message, const std::vector<Note>& notes) {
    fault(kind, machine.running, machine.running ? machine.running->pc : 0, message, notes);
}

namespace {

uintptr_t program_counter(void* context) {
    auto* c = static_cast<ucontext_t*>(context);
#if defined(__x86_64__)
    return uintptr_t(c->uc_mcontext.gregs[REG_RIP]) + 1;
#elif defined(__aarch64__)
    return uintptr_t(c->uc_mcontext.pc) + 1;
#else
    (void)c;
    return 0;
#endif
}

// A crash inside libc (memcpy, say) is reported at the kernel's last call instead.
uintptr_t kernel_pc(uintptr_t pc) {
    Dl_info info;
    const Thread* t = machine.running;
    if (t && dladdr(reinterpret_cast<void*>(pc), &info) && info.dli_fname && t->kernel->path == info.dli_fname)
        return pc;
    return t ? t->pc : pc;
}

void on_crash(int signal, siginfo_t* info, void* context) {
    const Thread* t = machine.running;
    const uintptr_t pc = kernel_pc(program_counter(context));
    if (t && (signal == SIGSEGV || signal == SIGBUS) && t->fiber.guards(info->si_addr))
        fault("stack-overflow", t, pc, "the kernel's stack is exhausted: endless recursion or a large local array");
    if (signal == SIGSEGV || signal == SIGBUS)
        fault("crash", t, pc, format("access to address %p, which is no L1 of this core", info->si_addr));
    fault("crash", t, pc, format("signal %d (%s)", signal, strsignal(signal)));
}

int slice_limit = 0;
uint64_t last_calls = 0;
const Thread* last_running = nullptr;
int same_for = 0;

// Fires every second of CPU time: asks the next load or store for its place; a thread that ran all along without
// calling the machine loops without end.
void on_tick(int, siginfo_t*, void* context) {
    Thread* t = machine.running;
    static int seconds = 0;
    if (++seconds >= machine.time_limit)
        fault("infinite-loop", t, t ? t->pc : 0,
              format("the program has run for %d s of CPU time and has not ended: a loop without end?", seconds));
    if (!t || t != last_running || t->calls != last_calls) {
        last_running = t;
        last_calls = t ? t->calls : 0;
        same_for = 0;
        return;
    }
    if (++same_for < slice_limit) {
        machine.sample = true;
        return;
    }
    fault("infinite-loop", t, kernel_pc(program_counter(context)),
          format("the kernel has run for %d s of CPU time without calling the machine", same_for));
}

}  // namespace

void install_signal_handlers(int seconds_a_slice) {
    slice_limit = seconds_a_slice;
    static char stack[64 << 10];
    stack_t alt{};
    alt.ss_sp = stack;
    alt.ss_size = sizeof stack;
    sigaltstack(&alt, nullptr);
    struct sigaction action{};
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    action.sa_sigaction = on_crash;
    for (const int s : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP}) sigaction(s, &action, nullptr);
    action.sa_sigaction = on_tick;
    action.sa_flags |= SA_RESTART;
    sigaction(SIGPROF, &action, nullptr);
    const itimerval every{{1, 0}, {1, 0}};
    setitimer(ITIMER_PROF, &every, nullptr);
}

}  // namespace lb
