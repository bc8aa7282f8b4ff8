// Queries and keys: RMSNorm over the head, then the rotary embedding. Values: the format of the cache, nothing else.
//
// Compile-time args   query heads, key heads, d, tile rows, 1 / head_dim and epsilon as bits of an fp32
// Runtime args        first unit, units
#include "../shared/rotary.h"
#include "api/compute/eltwise_unary/fill.h"
#include "api/compute/tile_move_copy.h"
#include "cbs.h"
#include "unit.h"

constexpr uint32_t heads = get_compile_time_arg_val(0), kv_heads = get_compile_time_arg_val(1);
constexpr uint32_t d = get_compile_time_arg_val(2), rows = get_compile_time_arg_val(3);
constexpr uint32_t scale = get_compile_time_arg_val(4), eps = get_compile_time_arg_val(5);

inline void make_ones() {
    pack_reconfig_data_format(CB_ONES);
    fill_tile_init();
    push_tile(CB_ONES, [] { fill_tile(0, 1.0f); });
}

// CB_IN / rms * gamma, rotated -> out.
inline void norm_and_rotate(uint32_t row, bool query, uint32_t out) {
    cb_wait_front(CB_IN, d);
    {
        DeviceZoneScopedN("norm");
        sum_squares(CB_IN, 1, d, CB_SQUARES);
        sum_rows(CB_SQUARES, CB_ONES, 1, CB_FACTOR, [] { inverse_rms(scale, eps); });
    }

    cb_wait_front(CB_TABLES, 2 * (rows + 1) * d);
    constexpr uint32_t sin = (rows + 1) * d;  // where the second half begins
    const Table gamma{CB_TABLES, (query ? 0 : sin) + rows * d};
    fold_gamma<d, d>({CB_TABLES, row * d}, {CB_TABLES, sin + row * d}, gamma, 0, CB_COS_GAMMA, CB_SIN_GAMMA);

    cb_wait_front(CB_COS_GAMMA, d);
    cb_wait_front(CB_SIN_GAMMA, d);
    rotate<1, d>(CB_IN, CB_COS_GAMMA, CB_SIN_GAMMA, CB_ROTATED);
    cb_pop_front(CB_IN, d);
    cb_pop_front(CB_COS_GAMMA, d);
    cb_pop_front(CB_SIN_GAMMA, d);

    cb_wait_front(CB_ROTATED, d);
    cb_wait_front(CB_FACTOR, 1);
    scale_rows<1, d>(CB_ROTATED, CB_FACTOR, out);
    cb_pop_front(CB_FACTOR, 1);
    cb_pop_front(CB_ROTATED, d);
}

// CB_IN -> CB_CACHE.
inline void convert() {
    DeviceZoneScopedN("convert");
    reconfig_data_format_srca(CB_IN);
    pack_reconfig_data_format(CB_CACHE);
    copy_init(CB_IN);
    cb_wait_front(CB_IN, d);
    push_tiles(CB_CACHE, d, [](uint32_t i, uint32_t dst) { copy_tile(CB_IN, i, dst); });
    cb_pop_front(CB_IN, d);
}

void kernel_main() {
    const uint32_t first = get_arg_val<uint32_t>(0), units = get_arg_val<uint32_t>(1);
    if (units == 0) return;

    compute_kernel_hw_startup(CB_IN, CB_IN, CB_SQUARES);
    make_ones();
    for (uint32_t index = first; index < first + units; ++index) {
        const Unit unit = unit_at<heads, kv_heads>(index);
        if (unit.head.kind == Kind::Value) {
            convert();
        } else {
            const bool query = unit.head.kind == Kind::Query;
            norm_and_rotate(unit.row, query, query ? CB_Q : CB_CACHE);
        }
    }
}
