// Writes tiles [first, first + n) of the output.
//
// Compile-time args   accessor of the output
// Common args         its address
// Runtime args        first, n
#include "api/dataflow/dataflow_api.h"
#include "api/debug/kernel_profiler.hpp"
#include "cbs.h"

void kernel_main() {
    constexpr auto args = TensorAccessorArgs<0>();
    const auto out = TensorAccessor(args, get_common_arg_val<uint32_t>(0), get_tile_size(CB_OUT));
    const uint32_t first = get_arg_val<uint32_t>(0), n = get_arg_val<uint32_t>(1);

    for (uint32_t tile = first; tile < first + n; ++tile) {
        DeviceZoneScopedN("write");
        cb_wait_front(CB_OUT, 1);
        noc_async_write_page(tile, out, get_read_ptr(CB_OUT));
        noc_async_writes_flushed();  // it has left L1, so that its page may be filled again
        cb_pop_front(CB_OUT, 1);
    }
    noc_async_write_barrier();
}
