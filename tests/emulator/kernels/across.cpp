// Moves 64 B between this core and the one that has a page of a tensor in L1. Compile-time arguments: 1 to write, the
// accessor. Runtime: address, page.
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    constexpr bool write = get_compile_time_arg_val(0);
    constexpr auto args = TensorAccessorArgs<1>();
    const auto a = TensorAccessor(args, get_arg_val<uint32_t>(0), get_tile_size(0));
    const uint64_t there = a.get_noc_addr(get_arg_val<uint32_t>(1));
    const uint64_t own = a.get_noc_addr(0);
    const uint32_t here = static_cast<uint32_t>(own);
    if constexpr (write) {
        noc_async_write(here, there, 64);
        noc_async_write_barrier();
    } else {
        noc_async_read(there, here, 64);
        noc_async_read_barrier();
    }
}
