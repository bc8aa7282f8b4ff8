// The state of the emulated chip: cores with their L1, circular buffers and threads; DRAM banks; what is in flight.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "../include/lb/abi.h"
#include "clock.h"
#include "fiber.h"
#include "shadow.h"
#include "timeline.h"
#include "timing.h"

namespace lb {

constexpr uint32_t kL1Bytes = 1536 << 10;
// Every core's L1 is mapped at its own window, so a kernel can dereference an address. The device address is the window
// address modulo the window's size.
constexpr uint32_t kWindowBytes = 2 << 20;
constexpr uintptr_t kWindows = 0x40000000;
constexpr uint32_t kSemaphoreBase = 0xA200, kSemaphoreStride = 16, kMaxSemaphores = 16;
constexpr uint32_t kArgBase = 0xA400, kArgBytes = 0x800;  // one block a thread, common arguments in its second half
constexpr uint32_t kZeros = 13536, kZerosBytes = 512;
constexpr uint32_t kDramAlignment = 64, kL1Alignment = 16;
constexpr int kMaxCbs = 64;

struct Buffer;
struct Core;
struct Thread;
struct Tensix;

enum class Role : uint8_t { Brisc, Ncrisc, Unpack, Math, Pack };
constexpr int kRoles = 5;
const char* role_name(Role role);

struct Cb {
    bool exists = false;
    uint32_t base = 0, size = 0, page = 0, pages = 0;
    uint8_t format = 255;
    uint32_t tile_bytes = 0;
    uint32_t received = 0, acked = 0;  // pages since the start
    uint32_t high_water = 0;
    VectorClock pushed, popped;
    std::vector<uint64_t> pushed_at, popped_at;  // clock of the last push and pop of each page
};

// A thread's own view of a circular buffer: every RISC keeps its pointers itself.
struct CbView {
    uint32_t rd = 0, wr = 0;            // device addresses
    uint32_t reserved = 0, waited = 0;  // pages this thread may still push or pop
    uint32_t packed = 0;                // tiles packed since the last push
    LocalCBInterface interface{};
};

enum class Space : uint8_t { L1, Dram };
struct Place {
    Space space;
    uint16_t unit;  // core index or bank
    uint32_t address;
    Buffer* buffer = nullptr;  // of DRAM
};

// A transfer between its issue and its completion.
struct Transfer {
    uint64_t id = 0;
    bool write = false, posted = false, sent = false;
    uint8_t noc = 0, trid = 0;
    uint32_t bytes = 0;
    Place from{}, to{};
    std::vector<uint16_t> receivers;    // cores still to be written; one for unicast to L1, none for DRAM
    std::vector<uint8_t> payload;       // what a sent write carries
    std::vector<uint16_t> initialised;  // and which of it was ever written
    uintptr_t pc = 0;
};

// What a transfer in flight will still do to a range of one core's L1.
struct InFlight {
    uint32_t begin, end;
    bool write;  // it will write the range, rather than read it
    Thread* owner;
    uint64_t transfer;
    uintptr_t pc;
};

struct Change {
    uint32_t value;
    uint64_t time;
};

// When a thread waited for a semaphore's value, or changed it.
struct Moment {
    Thread* by;
    uint32_t tick;
    uintptr_t pc;
};

struct Semaphore {
    VectorClock released, incremented;
    std::vector<Change> changes;  // since it was last set
    uint64_t stored_at = 0;       // by a plain store, whose value is not seen
    Epoch last_set = 0;
    uintptr_t set_pc = 0, inc_pc = 0;
    Thread* set_by = nullptr;
    Thread* inc_by = nullptr;
    std::unordered_map<uint16_t, Moment> seen;  // by thread: that it waited for the value of now
    std::unordered_map<uint32_t, Moment> gone;  // by earlier value: the change to another
};

// A semaphore's set or increment on its way, with what its sender had seen when it sent it.
struct Message {
    Thread* from;
    Core* core;
    uint32_t address, value;
    bool add;
    uint64_t time;  // of arrival
    VectorClock seen;
    uintptr_t pc;
};

struct Kernel {
    std::string path;  // of the shared object
    std::string name;
    Role role;
    uint8_t noc = 0;
    bool fp32_dest = false, full_sync = false, precise = false;
    uint64_t unpack_to_dest = 0;  // bit a circular buffer
    void (*entry)() = nullptr;
};

// Why a thread does not run.
struct Wait {
    enum Kind : uint8_t {
        None,
        CbSpace,
        CbPages,
        SemaphoreEqual,
        SemaphoreAtLeast,
        SourceFree,
        SourceValid,
        DestFree,
        DestReady,
        MailFree,
        Mail
    };
    Kind kind = None;
    uint32_t a = 0, b = 0;  // cb and pages, or L1 address and value
};

struct Counts {
    uint64_t dram_reads = 0, dram_read_bytes = 0, dram_writes = 0, dram_write_bytes = 0;
    uint64_t l1_reads = 0, l1_read_bytes = 0, l1_writes = 0, l1_write_bytes = 0;
    uint64_t multicasts = 0, multicast_bytes = 0, atomics = 0;
    uint64_t read_barriers = 0, write_barriers = 0, most_reads_in_flight = 0;
    std::map<std::string, uint64_t> tile_ops;  // by kind and operand formats
};

struct Thread {
    Core* core = nullptr;
    const Kernel* kernel = nullptr;
    Role role = Role::Brisc;
    uint16_t id = 0;
    uint64_t clock = 0;  // cycles of virtual time
    uint64_t stalls[kStalls] = {};
    Spans spans;
    Pending pending;
    enum State : uint8_t { Ready, Blocked, Done } state = Ready;
    Wait wait;
    Fiber fiber;
    VectorClock seen;
    std::vector<uint32_t> args, common_args;
    std::vector<CbView> cbs;
    std::vector<std::unique_ptr<Transfer>> reads, writes;
    std::vector<uint64_t> sends;  // semaphore writes whose source may still be read
    uint8_t read_trid[2] = {0, 0}, write_trid[2] = {0, 0};
    uint64_t read_state[2] = {0, 0}, write_state[2] = {0, 0};
    uint32_t read_state_bytes[2] = {0, 0}, write_state_bytes[2] = {0, 0};
    bool write_state_posted[2] = {false, false};
    bool linked[2] = {false, false};  // a linked multicast waits for its successor
    uintptr_t pc = 0;                 // where the kernel called the machine last
    uint64_t calls = 0;
    uintptr_t polled = 0;
    uint64_t polled_at = 0, idle_polls = 0;

    uint32_t tick() const { return seen.seen[id]; }
    Epoch epoch() const { return make_epoch(id, tick()); }
    bool has_seen(Epoch e) const { return epoch_tick(e) <= seen.seen[epoch_thread(e)]; }
    void acquire(const VectorClock& from) { seen.join(from); }
    void release(VectorClock& to) {
        to.join(seen);
        ++seen.seen[id];
    }
};

struct Core {
    uint16_t index = 0;
    uint8_t x = 0, y = 0;              // logical
    uint8_t noc_x = 0, noc_y = 0;      // virtual
    uint8_t first_x = 0, first_y = 0;  // of its kernel's range: relative coordinates
    uint8_t* l1 = nullptr;
    Shadow shadow;
    std::vector<Cb> cbs = std::vector<Cb>(kMaxCbs);
    Thread* threads[kRoles] = {};
    std::vector<InFlight> in_flight;
    std::unordered_map<uint32_t, Semaphore> semaphores;  // by word address
    std::unique_ptr<Tensix> tensix;
    Calendar incoming[2], outgoing[2];  // its ports, by NoC
    Counts counts;

    uint8_t* window() const { return reinterpret_cast<uint8_t*>(kWindows + uintptr_t{index} * kWindowBytes); }
};

struct Buffer {
    Space space;
    uint32_t address, page, stride, pages;
    bool written = false;
    std::vector<uint8_t> moved;  // of DRAM: which of its lines were read (1) and written (2)
    uint32_t bytes_in_bank(uint32_t bank, uint32_t banks) const {
        return pages > bank ? (pages - bank + banks - 1) / banks * stride : 0;
    }
};

struct DramBank {
    Calendar data, requests[2];
};

struct Machine {
    Chip chip;
    int grid_x = 0, grid_y = 0;
    int banks = 0;
    uint64_t bank_bytes = 0;
    uint8_t* dram = nullptr;
    std::vector<DramBank> dram_banks;
    Calendar scattered;            // between the banks and cores anywhere
    Calendar multicasts[2];        // by NoC
    uint64_t dram_once_bytes = 0;  // read and written, each line once
    Timeline timeline;
    std::vector<Core> cores;
    std::vector<Buffer> buffers;
    std::deque<Kernel> kernels;
    std::deque<Thread> threads;
    uint64_t seed = 0, random = 0;
    int time_limit = 0;  // seconds of CPU time for the whole program

    Thread* running = nullptr;
    void* main_context = nullptr;
    std::deque<Thread*> ready;
    std::deque<Message> messages;  // under a schedule seed
    volatile bool sample = false;  // a load or store is to note its place, whatever its address
    uint64_t progress = 0;         // grows with everything but polling
    uint64_t next_transfer = 1;

    int done = 0;

    Core* core_at(int noc_x, int noc_y);
    uint32_t draw(uint32_t n);  // pseudo-random, below n
};

extern Machine machine;

// The scheduler.
void run_all();
void wake(Core& core);             // a condition some thread of the core may wait for has changed
void block(Thread& t, Wait wait);  // returns once the wait is over
void give_way(Thread& t);          // lets other ready threads run first
bool satisfied(const Thread& t, const Wait& wait);
std::string describe_wait(const Thread& t);
// Every call from a kernel starts here: notes its line and, under a schedule seed, may switch threads.
Thread& enter(void* return_address);
void poll(Thread& t, uintptr_t what);

// Accesses to L1, checked.
enum class By : uint8_t { Cpu, Noc, Unpacker, Packer };
void check_read(Core& core, uint32_t address, uint32_t bytes, Thread& who, By by, uintptr_t pc, uint64_t transfer = 0);
void check_write(Core& core, uint32_t address, uint32_t bytes, Thread& who, By by, uintptr_t pc, uint64_t transfer = 0);
// Which bytes of a range were ever written, a mask for each granule; empty when all were. And the same for where a
// transfer puts them: source and destination agree modulo the granule.
std::vector<uint16_t> initialised_in(const Core& core, uint32_t address, uint32_t bytes);
void spread_uninitialised(Core& core, uint32_t address, uint32_t bytes, const std::vector<uint16_t>& source);
void count_in_flight(Core& core, uint32_t begin, uint32_t end, int by);
void add_in_flight(Core& core, InFlight range);
void drop_in_flight(Core& core, uint64_t transfer, bool write);
// Faults when a transfer of this thread still reads (or writes) the range it hands over.
void check_handed_over(Thread& t, uint32_t cb, uint32_t begin, uint32_t bytes, bool pushed);

uint8_t* bytes_at(const Place& place);
void random_landing(Thread& t);
bool deliver_one();  // a message, any that may be next; false when there is none
void deliver_all_of(const Thread& t);
void note_seen(Thread& t, uint32_t address);  // t has found a semaphore at the value it waits for
void check_finished(Thread& t);
void check_tiles_finished(Thread& t);

}  // namespace lb
