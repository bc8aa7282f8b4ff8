// The scheduler: which thread runs next. Deterministic; under a seed every legal order can come up.
#include <algorithm>
#include <map>

#include "fault.h"
#include "machine.h"
#include "tensix.h"

namespace lb {

Machine machine;

Core* Machine::core_at(int noc_x, int noc_y) {
    const int x = noc_x >= 1 && noc_x <= 7 ? noc_x - 1 : noc_x >= 10 && noc_x <= 16 ? noc_x - 3 : -1;
    const int y = noc_y - 2;
    if (x < 0 || x >= grid_x || y < 0 || y >= grid_y) return nullptr;
    return &cores[size_t(y) * grid_x + x];
}

uint32_t Machine::draw(uint32_t n) {
    random = random * 6364136223846793005ull + 1442695040888963407ull;
    return uint32_t((random >> 33) % n);
}

namespace {

void to_scheduler(Thread& t) { switch_to(&t.fiber.context, machine.main_context); }

void run_thread(void* arg) {
    auto& t = *static_cast<Thread*>(arg);
    t.kernel->entry();
    check_finished(t);
    t.state = Thread::Done;
    ++machine.done;
    ++machine.progress;
    to_scheduler(t);
}

Thread* pick() {
    auto& ready = machine.ready;
    if (ready.empty())  // what plain stores have changed
        for (Core& core : machine.cores) wake(core);
    while (ready.empty() && deliver_one()) {
    }
    if (ready.empty()) return nullptr;
    const size_t i = machine.seed ? machine.draw(uint32_t(ready.size())) : 0;
    Thread* t = ready[i];
    ready.erase(ready.begin() + long(i));
    return t;
}

[[noreturn]] void deadlock() {
    // Threads that wait at the same line for the same thing are told once, with the number of cores.
    struct Group {
        const Thread* first;
        int cores = 0;
    };
    std::map<std::pair<uintptr_t, std::string>, Group> groups;
    for (const Thread& t : machine.threads) {
        if (t.state != Thread::Blocked) continue;
        auto& g = groups.try_emplace({t.pc, describe_wait(t)}, Group{&t, 0}).first->second;
        ++g.cores;
    }
    std::vector<Note> notes;
    for (const auto& [key, g] : groups) {
        const std::string more = g.cores > 1 ? format(" (and %d other cores alike)", g.cores - 1) : "";
        notes.push_back({who(*g.first) + " waits for " + key.second + more, g.first, key.first});
    }
    std::stable_sort(notes.begin(), notes.end(),
                     [](const Note& a, const Note& b) { return a.thread->id < b.thread->id; });
    fault("deadlock", notes[0].thread, notes[0].pc, notes[0].text + "; no thread can run", notes);
}

}  // namespace

void run_all() {
    for (Thread& t : machine.threads) {
        t.fiber.start(run_thread, &t);
        machine.ready.push_back(&t);
    }
    while (Thread* t = pick()) {
        machine.running = t;
        switch_to(&machine.main_context, t->fiber.context);
        machine.running = nullptr;
    }
    if (machine.done < int(machine.threads.size())) deadlock();
}

void give_way(Thread& t) {
    if (machine.ready.empty()) return;
    machine.ready.push_back(&t);
    to_scheduler(t);
}

void block(Thread& t, Wait wait) {
    if (satisfied(t, wait)) return;
    t.wait = wait;
    t.state = Thread::Blocked;
    to_scheduler(t);
}

void wake(Core& core) {
    for (Thread* t : core.threads) {
        if (!t || t->state != Thread::Blocked || !satisfied(*t, t->wait)) continue;
        if (t->wait.kind == Wait::SemaphoreEqual) note_seen(*t, t->wait.a);
        t->state = Thread::Ready;
        t->wait = {};
        machine.ready.push_back(t);
    }
}

bool satisfied(const Thread& t, const Wait& w) {
    const Core& core = *t.core;
    switch (w.kind) {
        case Wait::CbSpace:
            return core.cbs[w.a].pages - (core.cbs[w.a].received - core.cbs[w.a].acked) >= w.b;
        case Wait::CbPages:
            return core.cbs[w.a].received - core.cbs[w.a].acked >= w.b;
        case Wait::SemaphoreEqual:
            return *reinterpret_cast<const uint32_t*>(core.l1 + w.a) == w.b;
        case Wait::SemaphoreAtLeast:
            return *reinterpret_cast<const uint32_t*>(core.l1 + w.a) >= w.b;
        case Wait::None:
            return true;
        default:
            return core.tensix->satisfied(w);
    }
}

std::string describe_wait(const Thread& t) {
    const Core& core = *t.core;
    const Wait& w = t.wait;
    switch (w.kind) {
        case Wait::CbSpace:
            return format("%u free pages in cb %u (%u of %u free)", w.b, w.a,
                          core.cbs[w.a].pages - (core.cbs[w.a].received - core.cbs[w.a].acked), core.cbs[w.a].pages);
        case Wait::CbPages:
            return format("%u pages in cb %u (%u there)", w.b, w.a, core.cbs[w.a].received - core.cbs[w.a].acked);
        case Wait::SemaphoreEqual:
        case Wait::SemaphoreAtLeast:
            return format("L1 %s to be %s%u (it is %u)", l1_name(core, w.a).c_str(),
                          w.kind == Wait::SemaphoreAtLeast ? "at least " : "", w.b,
                          *reinterpret_cast<const uint32_t*>(core.l1 + w.a));
        case Wait::SourceFree:
            return "the math thread to consume a source register";
        case Wait::SourceValid:
            return "the unpack thread to fill a source register";
        case Wait::DestFree:
            return "a free half of DEST (tile_regs_release() by the pack thread)";
        case Wait::DestReady:
            return "tile_regs_commit() by the math thread";
        case Wait::MailFree:
            return "the math or pack thread to take a value that read_tile_value() sent";
        case Wait::Mail:
            return "read_tile_value() of the unpack thread";
        default:
            return "nothing";
    }
}

Thread& enter(void* return_address) {
    Thread& t = *machine.running;
    t.pc = reinterpret_cast<uintptr_t>(return_address);
    if (++t.calls == 1 && t.role >= Role::Unpack) wait_until(t, machine.chip.compute_start, Stall::Start);
    ++machine.progress;
    if (machine.seed) {
        if (machine.draw(4) == 0) give_way(t);
        if (machine.draw(4) == 0) random_landing(t);
        if (machine.draw(4) == 0) deliver_one();
    }
    return t;
}

// A kernel that looks at the same thing again and again must let others run, and is stuck when nobody does anything.
void poll(Thread& t, uintptr_t what) {
    constexpr uint64_t kStuck = 100000;
    ++t.calls;
    t.clock += machine.chip.poll;
    if (t.polled != what || t.polled_at != machine.progress) t.idle_polls = 0;
    t.polled = what;
    t.polled_at = machine.progress;
    if (++t.idle_polls > kStuck)
        fault("infinite-loop",
              "the kernel polls for a change that no thread can make: every other thread waits or polls too");
    if (t.idle_polls > 1 || machine.seed) give_way(t);
}

}  // namespace lb
