// Attention of a worker's rows, then the merge of its share of the output.
//
// Compile-time args   R, D, B, W, r, c, scale (the upper half of an fp32), whether there may be several blocks
// Runtime args        units, rows of the output that this core owns (0 if it owns none)
#include "flash.h"
#include "merge.h"

using namespace attention;

void kernel_main() {
    constexpr uint32_t R = get_compile_time_arg_val(0), D = get_compile_time_arg_val(1),
                       B = get_compile_time_arg_val(2);
    constexpr uint32_t W = get_compile_time_arg_val(3), r = get_compile_time_arg_val(4),
                       c = get_compile_time_arg_val(5);
    constexpr uint16_t scale = get_compile_time_arg_val(6);
    constexpr bool several = get_compile_time_arg_val(7);
    const uint32_t units = get_arg_val<uint32_t>(0), owned = get_arg_val<uint32_t>(1);

    compute_kernel_hw_startup<SrcOrder::Reverse>(CB_Q, CB_K, CB_SCORES);
    if (units == 0) return;
    cb_wait_front(CB_ONES, 1);
    for (uint32_t unit = 0; unit < units; ++unit) {
        cb_wait_front(CB_INFO, 1);
        const uint32_t rows = read_tile_value(CB_INFO, 0, INFO_ROWS);
        const uint32_t active = read_tile_value(CB_INFO, 0, INFO_ACTIVE);
        const uint32_t partial = read_tile_value(CB_INFO, 0, INFO_PARTIAL);
        cb_pop_front(CB_INFO, 1);
        const auto tops = [&] {
            if (owned) merge_tops<W, r, scale>(owned, active);
        };
        if (rows) {
            attend<R, D, B, scale, several>(rows, partial, tops);
        } else {
            tops();
        }
        if (owned) merge_sums<W, r, c>(owned, active);
    }
    cb_pop_front(CB_ONES, 1);
}
