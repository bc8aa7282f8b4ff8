// RISCV_1 of a feeder: its columns of wqkv, what its bank has of K and V, the other weights.
//
// Args           those of reads.h
// Runtime args   then bank, feeder, cores that read wqkv from the bank, cores that read the other weights from it,
//                their places, x << 16 | y
#include "reads.h"
#include "../attention/feed.h"

inline void feed() {
    using namespace attention;
    constexpr uint32_t slot_pages = get_compile_time_arg_val(A + 9), slots = get_compile_time_arg_val(A + 10);
    constexpr uint32_t x_cores = get_compile_time_arg_val(A + 11);
    const ValidRows valid = read_valid_rows();
    const auto k = TensorAccessor(k_args, get_common_arg_val<uint32_t>(2), get_tile_size(CB_K));
    const auto v = TensorAccessor(v_args, get_common_arg_val<uint32_t>(3), get_tile_size(CB_V));
    const uint32_t bank = get_arg_val<uint32_t>(ROWS_ARG), number = get_arg_val<uint32_t>(ROWS_ARG + 1);
    const Feeder feeder{bank, banks, number, feeders, units, units_a_head, slot_pages, slots};
    noc_semaphore_wait(words_at(get_semaphore(BANK_FREE)), get_arg_val<uint32_t>(ROWS_ARG + 2));
    read_bank<D, W>(feeder, k, v, valid, [&](const Share& share, const Chunk& chunk) {
        const bool own = share.first + chunk.at + chunk.height > valid.before();
        if (own || !chunk.keys) noc_semaphore_wait(words_at(get_semaphore(QKV_DONE)), x_cores);
    });
    free_bank(ROWS_ARG + 4, get_arg_val<uint32_t>(ROWS_ARG + 3), ROWS_READ);
}

void kernel_main() {
    read_columns();
    feed();
    read_weights();
}
