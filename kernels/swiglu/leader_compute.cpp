// A tile row of x1 divided by its rms; gamma is in the weights.
//
// Compile-time args   hidden, 1 / columns of x1 and epsilon as bits of an fp32
#include "../shared/compute.h"
#include "cbs.h"

void kernel_main() {
    constexpr uint32_t hidden = get_compile_time_arg_val(0);
    constexpr uint32_t scale = get_compile_time_arg_val(1), eps = get_compile_time_arg_val(2);

    compute_kernel_hw_startup(CB_ROW, CB_ROW, CB_SQUARES);
    mul_init(CB_ROW, CB_ROW);
    push_tile(CB_SQUARES, [&] {  // a product adds to what DEST holds
        for (uint32_t k = 0; k < hidden; ++k) {
            cb_wait_front(CB_ROW, k + 1);
            mul_tiles(CB_ROW, CB_ROW, k, k, 0);
        }
    });
    sum_rows(CB_SQUARES, CB_ONES, 1, CB_FACTOR, [] { inverse_rms(scale, eps); });

    reconfig_data_format(CB_ROW, CB_FACTOR);
    pack_reconfig_data_format(CB_NORM);
    mul_bcast_cols_init(CB_ROW, CB_FACTOR);
    cb_wait_front(CB_FACTOR, 1);
    for (uint32_t k = 0; k < hidden; ++k) {
        push_tile(CB_NORM, [&] { mul_tiles_bcast_cols(CB_ROW, CB_FACTOR, k, 0, 0); });
    }
    cb_pop_front(CB_FACTOR, 1);
    cb_pop_front(CB_ROW, hidden);
}
