// RISCV_0 of a feeder: its heads of qkv to the caches and to attention's workers; pages of K and V to these; what
// follows attention to the layer's output.
//
// Args           those of moves.h
// Runtime args   of the attention: bank, feeder, places of all workers
#include "moves.h"
#include "../attention/feed.h"

// Returns the index of the next runtime arg.
inline uint32_t feed(uint32_t arg, uint32_t layer) {
    using namespace attention;
    const ValidRows valid{take_valid(), get_common_arg_val<uint32_t>(qkv::CACHE_ROWS_ARG), rows};
    const Feeder feeder{get_arg_val<uint32_t>(arg),
                        banks,
                        get_arg_val<uint32_t>(arg + 1),
                        feeders,
                        units,
                        units_a_head,
                        slot_pages,
                        slots};
    // Workers can take them once x has been sent to anyone.
    if (layer > 0) noc_semaphore_wait_min(words_at(get_semaphore(QKV_DONE)), 1);
    send_pages<D, W>(feeder, arg + 2, get_semaphore(BANK_ARRIVED + feeder.bank), valid);
    return arg + 2 + units * W;
}

void kernel_main() { move_layers(feed); }
