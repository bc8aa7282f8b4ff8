// Multicasts the tile row of the norm to all cores.
//
// Compile-time args   rows, hidden; last and first core of the grid in NoC coordinates (NoC 1 goes left and up), cores
// Runtime args        tile row
#include "../shared/norm_multicast.h"

void kernel_main() {
    const Everyone everyone{get_compile_time_arg_val(2), get_compile_time_arg_val(3), get_compile_time_arg_val(4),
                            get_compile_time_arg_val(5), get_compile_time_arg_val(6) - 1};
    push_ones(CB_ONES);
    multicast_norm(get_arg_val<uint32_t>(0), get_compile_time_arg_val(0), get_compile_time_arg_val(1), everyone);
}
