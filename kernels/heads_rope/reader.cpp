// Reads the tiles of each unit: the head's, and for queries and keys gamma, cos and sin.
//
// Compile-time args   query heads, key heads, d, accessors of qkv, q gamma, k gamma, cos, sin
// Common args         addresses of qkv, q gamma, k gamma, cos, sin
// Runtime args        first unit, units
#include "../shared/dataflow.h"
#include "cbs.h"
#include "unit.h"

void kernel_main() {
    constexpr uint32_t heads = get_compile_time_arg_val(0), kv_heads = get_compile_time_arg_val(1);
    constexpr uint32_t d = get_compile_time_arg_val(2);
    constexpr auto qkv_args = TensorAccessorArgs<3>();
    constexpr auto q_gamma_args = TensorAccessorArgs<qkv_args.next_compile_time_args_offset()>();
    constexpr auto k_gamma_args = TensorAccessorArgs<q_gamma_args.next_compile_time_args_offset()>();
    constexpr auto cos_args = TensorAccessorArgs<k_gamma_args.next_compile_time_args_offset()>();
    constexpr auto sin_args = TensorAccessorArgs<cos_args.next_compile_time_args_offset()>();
    constexpr uint32_t tile_bytes = get_tile_size(CB_IN);
    const auto qkv = TensorAccessor(qkv_args, get_common_arg_val<uint32_t>(0), tile_bytes);
    const auto q_gamma = TensorAccessor(q_gamma_args, get_common_arg_val<uint32_t>(1), tile_bytes);
    const auto k_gamma = TensorAccessor(k_gamma_args, get_common_arg_val<uint32_t>(2), tile_bytes);
    const auto cos = TensorAccessor(cos_args, get_common_arg_val<uint32_t>(3), tile_bytes);
    const auto sin = TensorAccessor(sin_args, get_common_arg_val<uint32_t>(4), tile_bytes);
    const uint32_t first = get_arg_val<uint32_t>(0), units = get_arg_val<uint32_t>(1);

    for (uint32_t index = first; index < first + units; ++index) {
        DeviceZoneScopedN("read a unit");
        const Unit unit = unit_at<heads, kv_heads>(index);
        const bool normed = unit.head.kind != Kind::Value;
        start_reading(qkv, (unit.row * (heads + 2 * kv_heads) + unit.column) * d, d, CB_IN);
        if (unit.head.kind == Kind::Query) start_reading(q_gamma, 0, d, CB_GAMMA);
        if (unit.head.kind == Kind::Key) start_reading(k_gamma, 0, d, CB_GAMMA);
        if (normed) {
            start_reading(cos, unit.row * d, d, CB_COS);
            start_reading(sin, unit.row * d, d, CB_SIN);
        }
        noc_async_read_barrier();
        cb_push_back(CB_IN, d);
        if (normed) {
            cb_push_back(CB_GAMMA, d);
            cb_push_back(CB_COS, d);
            cb_push_back(CB_SIN, d);
        }
    }
}
