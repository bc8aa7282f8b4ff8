// Tells compute what there is to do; reads the queries of each unit, and the worker's rows of K and V.
//
// Compile-time args   R, D, B, W, own tile rows, units a head, accessors of q, K cache, V cache, valid rows
// Common args         addresses of q, K cache, V cache, valid rows; tile rows of a cache
// Runtime args        first unit, units, worker
#include "load.h"

void kernel_main() {
    constexpr uint32_t R = get_compile_time_arg_val(0), D = get_compile_time_arg_val(1), B = get_compile_time_arg_val(2);
    constexpr uint32_t W = get_compile_time_arg_val(3), own_rows = get_compile_time_arg_val(4);
    constexpr uint32_t units_a_head = get_compile_time_arg_val(5);
    constexpr auto q_args = TensorAccessorArgs<6>();
    constexpr auto k_args = TensorAccessorArgs<q_args.next_compile_time_args_offset()>();
    constexpr auto v_args = TensorAccessorArgs<k_args.next_compile_time_args_offset()>();
    constexpr auto valid_args = TensorAccessorArgs<v_args.next_compile_time_args_offset()>();
    const auto q = TensorAccessor(q_args, get_common_arg_val<uint32_t>(0), get_tile_size(CB_Q));
    const auto k = TensorAccessor(k_args, get_common_arg_val<uint32_t>(1), get_tile_size(CB_K));
    const auto v = TensorAccessor(v_args, get_common_arg_val<uint32_t>(2), get_tile_size(CB_V));
    const auto words = TensorAccessor(valid_args, get_common_arg_val<uint32_t>(3), WORDS_BYTES);
    const uint32_t cache_rows = get_common_arg_val<uint32_t>(4);
    const uint32_t first_unit = get_arg_val<uint32_t>(0), units = get_arg_val<uint32_t>(1);
    const uint32_t worker = get_arg_val<uint32_t>(2);

    const ValidRows valid{read_valid(words, CB_INFO), cache_rows, own_rows};
    const Share share = share_of(worker, W, valid.count());
    push_info(share, valid);
    if (share.rows == 0) return;
    for (uint32_t unit = first_unit; unit < first_unit + units; ++unit) {
        start_reading(q, unit * R * D, R * D, CB_Q);
        noc_async_read_barrier();
        cb_push_back(CB_Q, R * D);
        load_rows<D, B>(k, v, unit / units_a_head, valid, share);
    }
    noc_async_read_set_trid(0);
}
