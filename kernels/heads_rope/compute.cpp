// Queries and keys: RMSNorm over the head, then the rotary embedding. Values: the format of the cache, nothing else.
//
// Compile-time args   query heads, key heads, d, 1 / head_dim and epsilon as bits of an fp32
// Runtime args        first unit, units
#include "../shared/compute.h"
#include "api/compute/eltwise_binary_sfpu.h"
#include "api/compute/tile_move_copy.h"
#include "cbs.h"
#include "unit.h"

// CB_IN / rms * gamma -> CB_NORMED.
template <uint32_t d, uint32_t scale, uint32_t eps>
inline void norm() {
    DeviceZoneScopedN("norm");
    square_tiles(CB_IN, d, CB_SQUARES);
    sum_rows(CB_SQUARES, CB_ONES, d, CB_FACTOR, [] { inverse_rms(scale, eps); });

    reconfig_data_format(CB_IN, CB_FACTOR);
    pack_reconfig_data_format(CB_SCALED);
    mul_bcast_cols_init(CB_IN, CB_FACTOR);
    cb_wait_front(CB_FACTOR, 1);
    for (uint32_t i = 0; i < d; ++i) {
        push_tile(CB_SCALED, [&] { mul_tiles_bcast_cols(CB_IN, CB_FACTOR, i, 0, 0); });
    }
    cb_pop_front(CB_IN, d);
    cb_pop_front(CB_FACTOR, 1);

    reconfig_data_format(CB_SCALED, CB_GAMMA);
    pack_reconfig_data_format(CB_NORMED);
    mul_bcast_rows_init(CB_SCALED, CB_GAMMA);
    cb_wait_front(CB_SCALED, d);
    cb_wait_front(CB_GAMMA, d);
    for (uint32_t i = 0; i < d; ++i) {
        push_tile(CB_NORMED, [&] { mul_tiles_bcast_rows(CB_SCALED, CB_GAMMA, i, i, 0); });
    }
    cb_pop_front(CB_SCALED, d);
    cb_pop_front(CB_GAMMA, d);
}

// low * cos - high * sin, high * cos + low * sin: the halves of a head are whole tiles, so they swap by index.
template <uint32_t d>
inline void rotate(uint32_t out) {
    DeviceZoneScopedN("rotate");
    reconfig_data_format(CB_NORMED, CB_COS);  // sin has the same format
    pack_reconfig_data_format(out);
    cb_wait_front(CB_NORMED, d);
    cb_wait_front(CB_COS, d);
    cb_wait_front(CB_SIN, d);
    for (uint32_t i = 0; i < d; ++i) {
        const bool low = i < d / 2;
        push_tile(out, [&] {
            mul_init(CB_NORMED, CB_COS);
            mul_tiles(CB_NORMED, CB_COS, i, i, 0);
            mul_tiles(CB_NORMED, CB_SIN, low ? i + d / 2 : i - d / 2, i, 1);
            if (low) {
                sub_binary_tile_init();
                sub_binary_tile(0, 1, 0);
            } else {
                add_binary_tile_init();
                add_binary_tile(0, 1, 0);
            }
        });
    }
    cb_pop_front(CB_NORMED, d);
    cb_pop_front(CB_COS, d);
    cb_pop_front(CB_SIN, d);
}

// CB_IN -> CB_CACHE.
template <uint32_t d>
inline void convert() {
    DeviceZoneScopedN("convert");
    reconfig_data_format_srca(CB_IN);
    pack_reconfig_data_format(CB_CACHE);
    copy_init(CB_IN);
    cb_wait_front(CB_IN, d);
    for (uint32_t i = 0; i < d; ++i) {
        push_tile(CB_CACHE, [&] { copy_tile(CB_IN, i, 0); });
    }
    cb_pop_front(CB_IN, d);
}

void kernel_main() {
    constexpr uint32_t heads = get_compile_time_arg_val(0), kv_heads = get_compile_time_arg_val(1);
    constexpr uint32_t d = get_compile_time_arg_val(2);
    constexpr uint32_t scale = get_compile_time_arg_val(3), eps = get_compile_time_arg_val(4);
    const uint32_t first = get_arg_val<uint32_t>(0), units = get_arg_val<uint32_t>(1);

    compute_kernel_hw_startup(CB_IN, CB_IN, CB_SQUARES);
    for (uint32_t index = first; index < first + units; ++index) {
        const Unit unit = unit_at<heads, kv_heads>(index);
        if (unit.kind == Kind::Value) {
            convert<d>();
        } else {
            norm<d, scale, eps>();
            rotate<d>(unit.kind == Kind::Query ? CB_Q : CB_CACHE);
        }
    }
}
