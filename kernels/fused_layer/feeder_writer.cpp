// RISCV_0 of a feeder: its heads of qkv to the caches and to attention's workers; pages of K and V to these; what
// follows attention to the layer's output.
//
// Args           those of moves.h
// Runtime args   of the attention: bank, feeder, places of all workers
#include "moves.h"
#include "../attention/feed.h"

// Returns the index of the next runtime arg.
inline uint32_t feed(uint32_t arg) {
    using namespace attention;
    const ValidRows valid{take_valid(), get_common_arg_val<uint32_t>(8), rows};
    const Feeder feeder{get_arg_val<uint32_t>(arg),
                        banks,
                        get_arg_val<uint32_t>(arg + 1),
                        feeders,
                        units,
                        units_a_head,
                        slot_pages,
                        slots};
    send_pages<D, W>(feeder, arg + 2, get_semaphore(BANK_ARRIVED + feeder.bank), valid);
    return arg + 2 + units * W;
}

void kernel_main() {
    start_reading_residual();
    finish(feed(project()));
    noc_async_write_barrier();
    noc_async_atomic_barrier();
}
