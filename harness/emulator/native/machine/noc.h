// Addresses and transfers of the network on chip.
#pragma once

#include "fault.h"
#include "machine.h"

namespace lb {

constexpr int kLocalBits = 36, kNodeBits = 6;
// Where the banks appear to a kernel: two columns from (17,12) down, three endpoints a bank. Each NoC has one for
// itself; those of the real ttnn 0.81.1 on the functional simulator (dram_bank_to_noc_xy).
constexpr int kDramX = 17, kDramY = 12, kBanksAColumn = 4, kEndpoints = 3;
inline int endpoint_of(int bank, int noc) { return noc == 1 ? 1 : bank >= 1 && bank <= 3 ? 0 : 2; }

inline uint64_t noc_address(int x, int y, uint64_t local) {
    return (uint64_t(y) << (kLocalBits + kNodeBits)) | (uint64_t(x) << kLocalBits) | local;
}

// enter(), of a call that uses a NoC.
Thread& enter_noc(void* return_address, uint8_t noc);
// The device address that a kernel's 32-bit value means on its own core. Faults when it is no address of that L1.
uint32_t own_l1(Thread& t, uint32_t address, const char* what);
// What a 64-bit NoC address names to a NoC. Faults when nothing is there.
Place resolve(uint64_t address, uint32_t bytes, const char* what, bool write, uint8_t noc);
// The cores of a multicast rectangle, the sender among them only with loopback; checks the number promised.
std::vector<uint16_t> resolve_multicast(Thread& t, uint64_t address, uint32_t receivers, Cast cast, uint8_t noc,
                                        uint32_t* l1);
// Writes already sent by t to a core arrive before what t sends there next.
void deliver_sent(Thread& t, uint16_t core, uint8_t noc);
void check_linked(Thread& t, bool multicast, bool linked, uint8_t noc);

// Counts what of DRAM has moved, each line once a direction.
void count_dram(const Place& p, uint32_t bytes, bool write);
void check_dram_read(Thread& t, const Place& from, uint32_t bytes);
void add_dram_write(Thread& t, const Transfer& write);
void drop_dram_write(Thread& t, const Transfer& write);

void settle_sends(Thread& t);
Semaphore& semaphore_at(Core& core, uint32_t address);
void semaphore_stored(Thread& t, uint32_t address);
bool is_semaphore(const Core& core, uint32_t address);

}  // namespace lb
