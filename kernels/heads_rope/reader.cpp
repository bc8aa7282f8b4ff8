// Reads the tiles of each unit, and takes the tables; on the leader sends their first half.
//
// Compile-time args   query heads, key heads, d, tile rows, accessors of qkv, cos, q gamma
// Common args         addresses of qkv, cos, q gamma
// Runtime args        first unit, units, leader?, then the leader's rectangle (multicast.h)
#include "tables.h"
#include "unit.h"

void kernel_main() {
    constexpr uint32_t heads = get_compile_time_arg_val(0), kv_heads = get_compile_time_arg_val(1);
    constexpr uint32_t d = get_compile_time_arg_val(2), rows = get_compile_time_arg_val(3);
    constexpr auto qkv_args = TensorAccessorArgs<4>();
    constexpr auto cos_args = TensorAccessorArgs<qkv_args.next_compile_time_args_offset()>();
    constexpr auto gamma_args = TensorAccessorArgs<cos_args.next_compile_time_args_offset()>();
    const auto qkv = TensorAccessor(qkv_args, get_common_arg_val<uint32_t>(0), get_tile_size(CB_IN));
    const uint32_t first = get_arg_val<uint32_t>(0), units = get_arg_val<uint32_t>(1);

    if (get_arg_val<uint32_t>(2)) {
        const auto cos = TensorAccessor(cos_args, get_common_arg_val<uint32_t>(1), get_tile_size(CB_TABLES));
        const auto gamma = TensorAccessor(gamma_args, get_common_arg_val<uint32_t>(2), get_tile_size(CB_TABLES));
        send_half<rows, d>(cos, gamma, everyone_from_args(3));
    }
    for (uint32_t index = first; index < first + units; ++index) {
        DeviceZoneScopedN("read a unit");
        const Unit unit = unit_at<heads, kv_heads>(index);
        start_reading(qkv, (unit.row * (heads + 2 * kv_heads) + unit.column) * d, d, CB_IN);
        noc_async_read_barrier();
        cb_push_back(CB_IN, d);
        if (index == first) take_tables<rows, d>();
    }
}
