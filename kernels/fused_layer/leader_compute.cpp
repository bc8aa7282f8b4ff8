// A tile row of x1 divided by its rms; gamma is in the weights.
//
// Compile-time args   those of norm_own_row; layers, circular buffers to rewind between them, as in chain.h
// Runtime args        those of norm_own_row
#include "plan.h"
#include "../shared/norm_row.h"
#include "../shared/rewind.h"

void kernel_main() {
    constexpr uint32_t layers = get_compile_time_arg_val(4);
    compute_kernel_hw_startup(CB_ROW, CB_ROW, CB_SQUARES);
    for (uint32_t layer = 0; layer < layers; ++layer) {
        norm_own_row();
        if (layer + 1 < layers) rewind<get_compile_time_arg_val(5), get_compile_time_arg_val(6)>();
    }
}
