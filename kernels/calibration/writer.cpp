// Writes tiles [first, first + n) of a tensor from a circular buffer, a block at a time.
// Compile-time arguments: circular buffer, tiles a block, the accessor. Runtime: address, first, n.
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    constexpr uint32_t cb = get_compile_time_arg_val(0), block = get_compile_time_arg_val(1);
    constexpr auto o_args = TensorAccessorArgs<2>();
    const uint32_t first = get_arg_val<uint32_t>(1), n = get_arg_val<uint32_t>(2);
    const auto o = TensorAccessor(o_args, get_arg_val<uint32_t>(0), get_tile_size(cb));
    for (uint32_t i = first; i < first + n; i += block) {
        cb_wait_front(cb, block);
        for (uint32_t k = 0; k < block; ++k) noc_async_write_page(i + k, o, get_read_ptr(cb) + k * get_tile_size(cb));
        noc_async_writes_flushed();
        cb_pop_front(cb, block);
    }
    noc_async_write_barrier();
}
