// Reads n tiles into cb 0, one in flight, in phases that nest. Compile-time arguments: the accessor. Runtime: address,
// n.
#include "api/dataflow/dataflow_api.h"
#include "api/debug/kernel_profiler.hpp"

void kernel_main() {
    constexpr auto args = TensorAccessorArgs<0>();
    const uint32_t n = get_arg_val<uint32_t>(1);
    const auto a = TensorAccessor(args, get_arg_val<uint32_t>(0), get_tile_size(0));
    DeviceZoneScopedN("all tiles");
    for (uint32_t i = 0; i < n; ++i) {
        DeviceZoneScopedN("one tile");
        cb_reserve_back(0, 1);
        noc_async_read_page(i, a, get_write_ptr(0));
        {
            DeviceZoneScopedN("arrival");
            noc_async_read_barrier();
        }
        cb_push_back(0, 1);
    }
}
