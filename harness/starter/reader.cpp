// Reads tiles [first, first + n) of both operands, one pair at a time.
//
// Compile-time args   accessor of both: they have the same shape and format
// Common args         addresses of x1 and down
// Runtime args        first, n
#include "api/dataflow/dataflow_api.h"
#include "api/debug/kernel_profiler.hpp"
#include "cbs.h"

void kernel_main() {
    constexpr auto args = TensorAccessorArgs<0>();
    const auto x1 = TensorAccessor(args, get_common_arg_val<uint32_t>(0), get_tile_size(CB_X1));
    const auto down = TensorAccessor(args, get_common_arg_val<uint32_t>(1), get_tile_size(CB_DOWN));
    const uint32_t first = get_arg_val<uint32_t>(0), n = get_arg_val<uint32_t>(1);

    for (uint32_t tile = first; tile < first + n; ++tile) {
        DeviceZoneScopedN("read");
        cb_reserve_back(CB_X1, 1);
        cb_reserve_back(CB_DOWN, 1);
        noc_async_read_page(tile, x1, get_write_ptr(CB_X1));
        noc_async_read_page(tile, down, get_write_ptr(CB_DOWN));
        noc_async_read_barrier();
        cb_push_back(CB_X1, 1);
        cb_push_back(CB_DOWN, 1);
    }
}
