// Writes the rt x ct tiles of one core's columns. Compile-time arguments: rt, ct, tiles a row, the accessor. Runtime:
// address, first column.
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    constexpr uint32_t rt = get_compile_time_arg_val(0), ct = get_compile_time_arg_val(1),
                       width = get_compile_time_arg_val(2);
    constexpr auto args = TensorAccessorArgs<3>();
    const auto out = TensorAccessor(args, get_arg_val<uint32_t>(0), get_tile_size(2));
    cb_wait_front(2, rt * ct);
    for (uint32_t r = 0; r < rt; ++r)
        for (uint32_t c = 0; c < ct; ++c)
            noc_async_write_page(r * width + get_arg_val<uint32_t>(1) + c, out,
                                 get_read_ptr(2) + (r * ct + c) * get_tile_size(2));
    noc_async_write_barrier();
    cb_pop_front(2, rt * ct);
}
