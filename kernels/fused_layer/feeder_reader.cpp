// RISCV_1 of a feeder: its columns of wqkv, what its bank has of K and V, the other weights.
//
// Args           those of reads.h
// Runtime args   then bank, feeder, cores that read wqkv from the bank, cores that read the other weights from it,
//                their places, x << 16 | y; those between layers
#include "reads.h"
#include "../attention/feed.h"

inline void feed(uint32_t layer) {
    using namespace attention;
    constexpr uint32_t slot_pages = get_compile_time_arg_val(A + 9), slots = get_compile_time_arg_val(A + 10);
    constexpr uint32_t x_cores = get_compile_time_arg_val(A + 11);
    const ValidRows valid = read_valid_rows();
    const auto k = TensorAccessor(k_args, address_of(layer, K_CACHE), get_tile_size(CB_K));
    const auto v = TensorAccessor(v_args, address_of(layer, V_CACHE), get_tile_size(CB_V));
    const uint32_t bank = get_arg_val<uint32_t>(ROWS_ARG), number = get_arg_val<uint32_t>(ROWS_ARG + 1);
    const Feeder feeder{bank, banks, number, feeders, units, units_a_head, slot_pages, slots};
    noc_semaphore_wait_min(words_at(get_semaphore(BANK_FREE)), (layer + 1) * get_arg_val<uint32_t>(ROWS_ARG + 2));
    read_bank<D, W>(feeder, k, v, valid, [&](const Share& share, const Chunk& chunk) {
        const bool own = share.first + chunk.at + chunk.height > valid.before();
        if (own || !chunk.keys) noc_semaphore_wait(words_at(get_semaphore(QKV_DONE)), x_cores);
    });
    if (layers > 1) noc_semaphore_wait(words_at(get_semaphore(QKV_DONE)), x_cores);  // also if it read no such rows
    free_bank(ROWS_ARG + 4, get_arg_val<uint32_t>(ROWS_ARG + 3), ROWS_READ);
}

void kernel_main() { read_layers(ROWS_ARG + 4 + get_arg_val<uint32_t>(ROWS_ARG + 3), feed); }
