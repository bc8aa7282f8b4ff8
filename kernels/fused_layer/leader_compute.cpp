// A tile row of x1 divided by its rms; gamma is in the weights.
//
// Compile-time args   rows, hidden, 1 / columns of x1 and epsilon as bits of an fp32
// Runtime args        tile row
#include "plan.h"
#include "../shared/norm_row.h"

void kernel_main() {
    constexpr uint32_t rows = get_compile_time_arg_val(0), hidden = get_compile_time_arg_val(1);
    constexpr uint32_t scale = get_compile_time_arg_val(2), eps = get_compile_time_arg_val(3);
    compute_kernel_hw_startup(CB_ROW, CB_ROW, CB_SQUARES);
    norm_row<rows, hidden, scale, eps>(get_arg_val<uint32_t>(0) * hidden);
}
