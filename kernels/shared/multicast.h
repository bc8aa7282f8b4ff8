// From one core to all others.
#pragma once

#include "dataflow.h"

// A rectangle of cores in NoC coordinates, from (x0, y0) to (x1, y1) in the direction of the NoC that is used: NoC 0
// goes right and down, NoC 1 left and up. `others`: its cores without the sender, which is one of them.
struct Everyone {
    uint32_t x0, y0, x1, y1, others;

    uint64_t at(uint32_t address) const { return get_noc_multicast_addr(x0, y0, x1, y1, address); }
};

// The rectangle from the runtime args x0, y0, x1, y1, others, which start at `arg`.
inline Everyone everyone_from_args(uint32_t arg) {
    return {get_arg_val<uint32_t>(arg), get_arg_val<uint32_t>(arg + 1), get_arg_val<uint32_t>(arg + 2),
            get_arg_val<uint32_t>(arg + 3), get_arg_val<uint32_t>(arg + 4)};
}

// `bytes` at `address` to the same address of all others, packet by packet: linked but for the last, so that the path
// through the NoC stays open.
inline void multicast(uint32_t address, uint32_t bytes, const Everyone& everyone) {
    for (const uint32_t end = address + bytes; address < end; address += NOC_MAX_BURST_SIZE) {
        const bool last = end - address <= NOC_MAX_BURST_SIZE;
        const uint32_t packet = last ? end - address : NOC_MAX_BURST_SIZE;
        noc_async_write_multicast(address, everyone.at(address), packet, everyone.others, !last);
    }
}

// Sets a semaphore here and of all others to `value`, there after all that was multicast before.
inline void send_flag(uint32_t semaphore, uint32_t value, const Everyone& everyone) {
    noc_async_writes_flushed();  // Blackhole may let the flag overtake the payload otherwise
    noc_semaphore_set(words_at(semaphore), value);
    noc_semaphore_set_multicast(semaphore, everyone.at(semaphore), everyone.others);
}

// The same with 1, and returns when it is there.
inline void raise_flag(uint32_t semaphore, const Everyone& everyone) {
    send_flag(semaphore, 1, everyone);
    noc_async_write_barrier();
}
