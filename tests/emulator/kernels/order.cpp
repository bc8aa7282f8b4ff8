// Writes the tile of cb 0 to page 1 if it is there already when the kernel looks, else to page 0: legal, and a matter
// of luck. Compile-time arguments: the accessor. Common: address.
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    constexpr auto args = TensorAccessorArgs<0>();
    const auto out = TensorAccessor(args, get_common_arg_val<uint32_t>(0), get_tile_size(0));
    const bool early = cb_pages_available_at_front(0, 1);
    cb_wait_front(0, 1);
    noc_async_write_page(early ? 1 : 0, out, get_read_ptr(0));
    noc_async_write_barrier();
    cb_pop_front(0, 1);
}
