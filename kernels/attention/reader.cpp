// RISCV_1. A worker gets the queries of its units, tells compute what there is to do, and brings K and V: by its own
// reads, or as the feeders send them. A feeder reads its bank.
//
// Compile-time args   R, D, B, W, own tile rows, units, units a head, feeders a bank (0: workers read themselves),
//                     banks, pages of a feeder's slot, slots, accessors of q, K cache, V cache, valid rows
// Common args         addresses of q, K cache, V cache, valid rows; tile rows of a cache
// Runtime args        role; of a worker: first unit, units, worker, NoC coordinates of the W workers;
//                     of a feeder: bank, feeder
#include "feed.h"
#include "own.h"
#include "queries.h"
#include "roles.h"

using namespace attention;

void kernel_main() {
    constexpr uint32_t R = get_compile_time_arg_val(0), D = get_compile_time_arg_val(1),
                       B = get_compile_time_arg_val(2);
    constexpr uint32_t W = get_compile_time_arg_val(3), own_rows = get_compile_time_arg_val(4);
    constexpr uint32_t all_units = get_compile_time_arg_val(5), units_a_head = get_compile_time_arg_val(6);
    constexpr uint32_t feeders = get_compile_time_arg_val(7), banks = get_compile_time_arg_val(8);
    constexpr uint32_t slot_pages = get_compile_time_arg_val(9), slots = get_compile_time_arg_val(10);
    constexpr auto q_args = TensorAccessorArgs<11>();
    constexpr auto k_args = TensorAccessorArgs<q_args.next_compile_time_args_offset()>();
    constexpr auto v_args = TensorAccessorArgs<k_args.next_compile_time_args_offset()>();
    constexpr auto valid_args = TensorAccessorArgs<v_args.next_compile_time_args_offset()>();
    const auto q = TensorAccessor(q_args, get_common_arg_val<uint32_t>(0), get_tile_size(CB_Q));
    const auto k = TensorAccessor(k_args, get_common_arg_val<uint32_t>(1), get_tile_size(CB_K));
    const auto v = TensorAccessor(v_args, get_common_arg_val<uint32_t>(2), get_tile_size(CB_V));
    const auto words = TensorAccessor(valid_args, get_common_arg_val<uint32_t>(3), WORDS_BYTES);
    const uint32_t cache_rows = get_common_arg_val<uint32_t>(4);
    const uint32_t role = get_arg_val<uint32_t>(0), first = get_arg_val<uint32_t>(1), second = get_arg_val<uint32_t>(2);

    if (role == FEEDER) {
        const Feeder feeder{first, banks, second, feeders, all_units, units_a_head, slot_pages, slots};
        const ValidRows valid{read_valid(words), cache_rows, own_rows};
        read_bank<D, W>(feeder, k, v, valid, [](const Share&, const Chunk&) {});
    }
    if (role != WORKER) return;
    const uint32_t worker = get_arg_val<uint32_t>(3);
    constexpr uint32_t coordinates = 4;
    for (uint32_t unit = first; unit < first + second; ++unit) {
        const uint32_t S = gather_queries<R, D, W>(q, words, unit, worker, coordinates, get_semaphore(QUERIES_ARRIVED));
        const ValidRows valid{S, cache_rows, own_rows};
        const Share share = share_of(worker, W, valid.count());
        push_info(share, valid);
        if constexpr (feeders) {
            receive_rows<D, B>(unit / units_a_head, banks, BANK_ARRIVED, valid, share);
        } else {
            load_rows<D, B>(k, v, unit / units_a_head, valid, share);
        }
    }
}
