// Compile-time args   R, D, B, W, r, c, scale (the upper half of an fp32), whether there may be several blocks
// Runtime args        units, rows of the output that this core owns (0 if it owns none)
#include "compute.h"

using namespace attention;

void kernel_main() {
    constexpr uint32_t R = get_compile_time_arg_val(0), D = get_compile_time_arg_val(1),
                       B = get_compile_time_arg_val(2);
    constexpr uint32_t W = get_compile_time_arg_val(3), r = get_compile_time_arg_val(4),
                       c = get_compile_time_arg_val(5);
    constexpr uint16_t scale = get_compile_time_arg_val(6);
    constexpr bool several = get_compile_time_arg_val(7);
    compute_kernel_hw_startup<SrcOrder::Reverse>(CB_Q, CB_K, CB_SCORES);
    attend_units<R, D, B, W, r, c, scale, several>(get_arg_val<uint32_t>(0), get_arg_val<uint32_t>(1));
}
