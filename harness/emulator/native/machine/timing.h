// Virtual time: what each step costs on a Blackhole, in cycles. A prediction, never a measurement.
//
// Threads run in whatever order the strict checks want; time follows along what orders them. Everything handed from one
// thread to another carries the time it was ready, and the taker's clock goes on from the later of the two.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lb {

struct Core;
struct Place;
struct Thread;
struct Transfer;

// The one table of constants: type, name, value, unit, where it comes from, and what is known of it. S: public
// measurements (tt-metal tech reports and issues), F: fitted to the published times of ttnn's ops, A: assumed, of the
// order of the instructions a call takes. `machine constants` prints it, a job's lines `chip NAME VALUE` change it.
// Banks and grid come with the device.
#define LB_CHIP(X)                                                                                                     \
    X(uint64_t, clock_mhz, 1350, "MHz", S, "clock of the cores")                                                       \
    /* Launch: the time from one program's end to the next one's start. */                                             \
    X(uint64_t, launch, 2795, "cycles", S, "op to op: 2.07 us")                                                        \
    X(uint64_t, compute_start, 2592, "cycles", S,                                                                      \
      "of compute threads, later: 4.26 us from pack to the next program's unpack, less the launch and a write")        \
    X(double, skew, 10, "cycles/core", S, "the launch's spread: 2.5 to 3 us with the full grid, 5 to 11 a core")       \
    /* DRAM. */                                                                                                        \
    X(double, bank, 46.3, "B/cycle", S, "a bank to a reader next to it: 500 GB/s of eight, 98 % of 512")               \
    X(double, scattered, 31.85, "B/cycle", S, "a bank's share of all together, read from anywhere: 344 GB/s of eight") \
    X(double, core_scattered, 25, "B/cycle", F, "one core that reads all banks, to w2 and wo; alone measured at 23")   \
    X(uint64_t, request, 16, "cycles", S, "a request of an endpoint and NoC: 16.4")                                    \
    X(uint64_t, dram_read, 453, "cycles", F,                                                                           \
      "with 2 KB, issue and CB calls 529 in all, as from concat_heads to create_qkv_heads; alone measured at 582")     \
    X(uint64_t, dram_read_row, 320, "cycles", S,                                                                       \
      "on the bank's row: less what a read of L1 on one axis saves; two of 16 KB in flight then give `bank`")          \
    /* NoC. */                                                                                                         \
    X(double, link, 60, "B/cycle", S, "from L1 to L1")                                                                 \
    X(uint64_t, columns, 17, "", S, "of the torus")                                                                    \
    X(uint64_t, rows, 12, "", S, "of the torus")                                                                       \
    X(uint64_t, l1_read, 373, "cycles", S, "round trip of a read from another core")                                   \
    X(uint64_t, l1_read_axis, 227, "cycles", S, "the same on one axis")                                                \
    X(uint64_t, l1_write, 360, "cycles", S, "a write until it is acknowledged")                                        \
    X(uint64_t, l1_write_axis, 207, "cycles", S, "the same on one axis")                                               \
    X(uint64_t, one_way, 40, "cycles", S, "a message from L1 to L1, before its hops")                                  \
    X(uint64_t, hop, 11, "cycles", S, "each hop")                                                                      \
    X(double, multicast, 24, "B/cycle", S, "a multicast")                                                              \
    X(double, linked_multicast, 41, "B/cycle", S, "a linked one")                                                      \
    X(uint64_t, multicast_path, 327, "cycles", S, "its path: ten column multicasts of 2 KB at once took 412 each")     \
    X(double, acknowledge, 3.4, "cycles", S, "a receiver: 64 B to 130 cores took 809")                                 \
    X(uint64_t, issue, 30, "cycles", A, "one transfer's address and registers")                                        \
    /* Calls of the data-movement RISCs. */                                                                            \
    X(uint64_t, cb_call, 10, "cycles", A, "a call on a circular buffer")                                               \
    X(uint64_t, load, 8, "cycles", A, "a load from L1")                                                                \
    X(uint64_t, store, 5, "cycles", S, "a store to L1, one after the other; published for Wormhole")                   \
    X(uint64_t, poll, 20, "cycles", A, "a look at a semaphore or flag")                                                \
    /* Tensix. */                                                                                                      \
    X(double, unpack, 64, "B/cycle", A, "into a source register")                                                      \
    X(double, pack, 128, "B/cycle", S, "4 interfaces of 32")                                                           \
    X(uint64_t, matmul, 16, "cycles", S, "a tile product and fidelity phase")                                          \
    X(uint64_t, eltwise, 8, "cycles", A, "a tile and phase: 128 lanes a cycle")                                        \
    X(uint64_t, sfpu, 70, "cycles", S, "exp of a tile; stands for the simple functions too")                           \
    X(uint64_t, sfpu_long, 140, "cycles", A, "recip, rsqrt, sqrt, silu, sigmoid, division, reductions")                \
    X(uint64_t, tile_call, 6, "cycles", A, "a call on a tile")                                                         \
    X(uint64_t, handover, 22, "cycles", F, "of DEST: with it a pass of one tile takes 85")                             \
    X(uint64_t, init, 40, "cycles", A, "an init or a change of formats")

struct Chip {
#define LB_FIELD(type, name, value, unit, mark, source) type name = value;
    LB_CHIP(LB_FIELD)
#undef LB_FIELD
    uint8_t bank_row[2][8] = {{11, 2, 9, 5, 11, 3, 8, 6}, {1, 10, 4, 7, 1, 10, 4, 7}};  // [S] of a NoC's endpoint

    bool set(const std::string& name, double value);  // false: no constant has that name
};

// The table as a JSON list.
void print_constants();

enum class Stall : uint8_t { Read, Write, CbFull, CbEmpty, Semaphore, Registers, Start };
constexpr int kStalls = 7;
extern const char* const kStallNames[kStalls];

// A resource's bookings. They come in the order the threads run in, not in that of time, so a booking takes the first
// free time at or after it is asked for. Kept in slots of time: which part of a slot is taken does not matter. Many
// short services must not be rounded to cycles each, so time is in parts of a cycle.
class Calendar {
  public:
    uint64_t book(uint64_t from, double cycles);  // the cycle in which the service begins

  private:
    static constexpr uint64_t kParts = 16, kSlot = 128 * kParts;
    std::vector<uint16_t> used;
    std::vector<uint32_t> next;  // a slot at or after this one that may have room
    uint32_t with_room(uint32_t slot);
};

// When what a thread has sent for will be there, by NoC and transaction id.
struct Pending {
    uint64_t read[2][16] = {}, sent[2][16] = {}, written[2][16] = {};
    std::vector<uint64_t> arrived;  // by core: the last write's arrival
    int bank[2] = {-1, -1};         // of the last DRAM transfer
};

void wait_until(Thread& t, uint64_t time, Stall why);
void time_read(Thread& t, const Transfer& read);
void time_write(Thread& t, const Transfer& write);
void time_multicast(Thread& t, const std::vector<uint16_t>& cores, uint32_t bytes, uint8_t noc, uint8_t trid,
                    bool path_open, bool linked);
// A word on its way to a core: after the writes sent there before it.
uint64_t word_arrives(Thread& t, uint16_t core, uint8_t noc);
// Until the transfers of a NoC, or of one transaction id, have come.
constexpr int kAnyTrid = -1;
void await(Thread& t, const uint64_t (&times)[2][16], uint8_t noc, int trid, Stall why);

}  // namespace lb
