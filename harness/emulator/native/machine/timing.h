// Virtual time: what each step costs on a Blackhole, in cycles. A prediction, never a measurement.
//
// Threads run in whatever order the strict checks want; time follows along what orders them. Everything handed from one
// thread to another carries the time it was ready, and the taker's clock goes on from the later of the two.
#pragma once

#include <cstdint>
#include <vector>

namespace lb {

struct Core;
struct Place;
struct Thread;
struct Transfer;

// The one table of constants. [S]: public measurements (tt-metal tech reports and issues), [F]: fitted to the published
// times of ttnn's ops, [A]: assumed, of the order of the instructions a call takes. Banks and grid come with the
// device.
struct Chip {
    uint64_t clock_mhz = 1350;  // [S]

    // Launch: the time from one program's end to the next one's start.
    uint64_t launch = 2795;  // [S] 2.07 us op to op
    uint64_t compute_start =
        2592;          // [S] later: 4.26 us from pack to the next program's unpack, less launch and a write
    double skew = 10;  // [S] a core: with the full grid 2.5 to 3 us; 10 of 5 to 11 so that the adds come out

    // DRAM.
    double bank = 46.3;          // [S] B/cycle: 500 GB/s over 8 banks, 98 % of 512
    double scattered = 254.8;    // [S] B/cycle of all banks together, read from anywhere: 344 GB/s
    double core_scattered = 25;  // [F] B/cycle of one core that reads all banks, to w2 and wo; measured at 23 [S]
    uint64_t request = 16;       // [S] 16.4 cycles a request, an endpoint and NoC
    uint64_t dram_read = 453;    // [F] with issue, 2 KB and CB calls 529 in all, what a read adds from concat_heads to
                                 // create_qkv_heads; alone it was measured at 582 [S]
    uint64_t dram_read_row =
        320;  // [S] less what a read of L1 on one axis saves; two of 16 KB in flight then give `bank`
    uint8_t bank_row[2][8] = {{11, 2, 9, 5, 11, 3, 8, 6}, {1, 10, 4, 7, 1, 10, 4, 7}};  // [S] of a NoC's endpoint

    // NoC.
    double link = 60;                              // [S] B/cycle from L1 to L1
    uint64_t columns = 17, rows = 12;              // [S] of the torus
    uint64_t l1_read = 373, l1_read_axis = 227;    // [S] round trip; on one axis
    uint64_t l1_write = 360, l1_write_axis = 207;  // [S]
    uint64_t one_way = 40, hop = 11;               // [S]
    double multicast = 24, linked_multicast = 41;  // [S] B/cycle
    uint64_t multicast_path = 327;                 // [S] ten column multicasts of 2 KB at once: 412 cycles each
    double acknowledge = 3.4;                      // [S] a receiver: 64 B to 130 cores took 809 cycles
    uint64_t issue = 30;                           // [A] one transfer's address and registers

    // Calls of the data-movement RISCs.
    uint64_t cb_call = 10;         // [A]
    uint64_t load = 8, store = 2;  // [A] of L1
    uint64_t poll = 20;            // [A]

    // Tensix.
    double unpack = 64;        // [A] B/cycle into a source register
    double pack = 128;         // [S] 4 interfaces of 32 B/cycle
    uint64_t matmul = 16;      // [S] a tile product and fidelity phase
    uint64_t eltwise = 8;      // [A] a tile and phase: 128 lanes a cycle
    uint64_t sfpu = 70;        // [S] exp of a tile; stands for the simple functions too
    uint64_t sfpu_long = 140;  // [A] recip, rsqrt, sqrt, silu, sigmoid, division, reductions
    uint64_t tile_call = 6;    // [A]
    uint64_t handover = 22;    // [F] of DEST: with it a pass of one tile takes 85 cycles
    uint64_t init = 40;        // [A] an init or a change of formats
};

enum class Stall : uint8_t { Read, Write, CbFull, CbEmpty, Semaphore, Registers };
constexpr int kStalls = 6;
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
