// RISCV_1 of a worker: its columns of wqkv, K and V as feeders send them, the other weights.
//
// Args           those of reads.h
// Runtime args   then whether the core has a unit of the attention, its unit, worker; those between layers
#include "reads.h"
#include "../attention/feed.h"

inline void receive() {
    using namespace attention;
    const uint32_t unit = get_arg_val<uint32_t>(ROWS_ARG + 1), worker = get_arg_val<uint32_t>(ROWS_ARG + 2);
    const ValidRows valid = read_valid_rows();
    const Share share = share_of(worker, W, valid.count());
    push_info(share, valid);
    cb_reserve_back(CB_Q, R * D);
    noc_semaphore_wait(words_at(get_semaphore(QUERIES_ARRIVED)), R * D);
    cb_push_back(CB_Q, R * D);
    receive_rows<D, B>(unit / units_a_head, banks, BANK_ARRIVED, valid, share);
}

void kernel_main() {
    read_layers(ROWS_ARG + 3, [](uint32_t) {
        if (get_arg_val<uint32_t>(ROWS_ARG)) receive();
    });
}
