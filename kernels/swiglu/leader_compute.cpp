// A tile row of x1 divided by its rms; gamma is in the weights.
//
// Args   those of norm_own_row
#include "../shared/norm_row.h"

void kernel_main() {
    compute_kernel_hw_startup(CB_ROW, CB_ROW, CB_SQUARES);
    norm_own_row();
}
