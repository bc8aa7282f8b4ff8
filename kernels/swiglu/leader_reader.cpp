// Reads a tile row of x1, in pieces that compute can begin with.
//
// Compile-time args   hidden, accessor of x1
// Common args         addresses of the weights, of x1
// Runtime args        tile row
#include "../shared/dataflow.h"
#include "../shared/norm_leader.h"

void kernel_main() {
    constexpr uint32_t hidden = get_compile_time_arg_val(0), piece = 8, depth = 8;
    constexpr auto args = TensorAccessorArgs<1>();
    const auto x1 = TensorAccessor(args, get_common_arg_val<uint32_t>(1), get_tile_size(CB_ROW));
    const uint32_t first = get_arg_val<uint32_t>(0) * hidden, to = get_write_ptr(CB_ROW);
    const auto end = [](uint32_t k) { return k + piece < hidden ? k + piece : hidden; };

    cb_reserve_back(CB_ROW, hidden);
    uint32_t landed = 0;
    const auto land = [&] {
        noc_async_read_barrier_with_trid(1 + landed / piece % depth);
        cb_push_back(CB_ROW, end(landed) - landed);
        landed = end(landed);
    };
    for (uint32_t begin = 0; begin < hidden; begin += piece) {
        if (begin - landed == depth * piece) land();
        noc_async_read_set_trid(1 + begin / piece % depth);
        for (uint32_t k = begin; k < end(begin); ++k) {
            noc_async_read_page(first + k, x1, to + k * get_tile_size(CB_ROW));
        }
    }
    while (landed < hidden) land();
    noc_async_read_set_trid(0);
}
