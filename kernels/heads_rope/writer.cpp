// Writes each unit: queries to q, keys and values to the own rows of the caches. On the leader, sends the second half
// of the tables first.
//
// Compile-time args   query heads, key heads, d, tile rows of the own tokens, accessors of q, K cache, V cache, sin, k
//                     gamma
// Common args         addresses of q, K cache, V cache, sin, k gamma; tile rows of a cache
// Runtime args        first unit, units, leader?, then the leader's rectangle (multicast.h)
#include "tables.h"
#include "unit.h"

void kernel_main() {
    constexpr uint32_t heads = get_compile_time_arg_val(0), kv_heads = get_compile_time_arg_val(1);
    constexpr uint32_t d = get_compile_time_arg_val(2), own_rows = get_compile_time_arg_val(3);
    constexpr auto q_args = TensorAccessorArgs<4>();
    constexpr auto k_args = TensorAccessorArgs<q_args.next_compile_time_args_offset()>();
    constexpr auto v_args = TensorAccessorArgs<k_args.next_compile_time_args_offset()>();
    constexpr auto sin_args = TensorAccessorArgs<v_args.next_compile_time_args_offset()>();
    constexpr auto gamma_args = TensorAccessorArgs<sin_args.next_compile_time_args_offset()>();
    const auto q = TensorAccessor(q_args, get_common_arg_val<uint32_t>(0), get_tile_size(CB_Q));
    const auto k_cache = TensorAccessor(k_args, get_common_arg_val<uint32_t>(1), get_tile_size(CB_CACHE));
    const auto v_cache = TensorAccessor(v_args, get_common_arg_val<uint32_t>(2), get_tile_size(CB_CACHE));
    const uint32_t cache_rows = get_common_arg_val<uint32_t>(5);
    const uint32_t first = get_arg_val<uint32_t>(0), units = get_arg_val<uint32_t>(1);

    if (get_arg_val<uint32_t>(2)) {
        const auto sin = TensorAccessor(sin_args, get_common_arg_val<uint32_t>(3), get_tile_size(CB_TABLES));
        const auto gamma = TensorAccessor(gamma_args, get_common_arg_val<uint32_t>(4), get_tile_size(CB_TABLES));
        send_half<own_rows, d>(sin, gamma, everyone_from_args(3));
    }
    for (uint32_t index = first; index < first + units; ++index) {
        DeviceZoneScopedN("write a unit");
        const Unit unit = unit_at<heads, kv_heads>(index);
        const uint32_t own_page = (unit.head.index * cache_rows + cache_rows - own_rows + unit.row) * d;
        const uint32_t cb = unit.head.kind == Kind::Query ? CB_Q : CB_CACHE;
        if (unit.head.kind == Kind::Query) start_writing(q, (unit.head.index * own_rows + unit.row) * d, d, cb);
        if (unit.head.kind == Kind::Key) start_writing(k_cache, own_page, d, cb);
        if (unit.head.kind == Kind::Value) start_writing(v_cache, own_page, d, cb);
        noc_async_writes_flushed();
        cb_pop_front(cb, d);
    }
    noc_async_write_barrier();
}
