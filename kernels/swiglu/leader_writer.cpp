// Makes the scaler of the sum; multicasts the tile row of the norm to all cores.
//
// Compile-time args   rows, hidden; last and first core of the grid in NoC coordinates (NoC 1 goes left and up), cores
// Runtime args        tile row
#include "../shared/multicast.h"
#include "cbs.h"

void kernel_main() {
    constexpr uint32_t rows = get_compile_time_arg_val(0), hidden = get_compile_time_arg_val(1);
    const Everyone everyone{get_compile_time_arg_val(2), get_compile_time_arg_val(3), get_compile_time_arg_val(4),
                            get_compile_time_arg_val(5), get_compile_time_arg_val(6) - 1};
    const uint32_t row = get_arg_val<uint32_t>(0), bytes = hidden * get_tile_size(CB_H);
    push_ones(CB_ONES);
    cb_wait_front(CB_H, rows * hidden);
    DeviceZoneScopedN("multicast");
    multicast(get_read_ptr(CB_H) + row * bytes, bytes, everyone);
    raise_flag(get_semaphore(arrived(row)), everyone);
    cb_pop_front(CB_H, rows * hidden);
}
