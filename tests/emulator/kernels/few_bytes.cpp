// Reads 64 bytes of a page and writes 16 of them to another tensor: less than a cycle's worth of all banks.
// Compile-time arguments: the accessors of both. Runtime: their addresses.
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    constexpr auto a_args = TensorAccessorArgs<0>();
    constexpr auto out_args = TensorAccessorArgs<a_args.next_compile_time_args_offset()>();
    const auto a = TensorAccessor(a_args, get_arg_val<uint32_t>(0), get_tile_size(0));
    const auto out = TensorAccessor(out_args, get_arg_val<uint32_t>(1), get_tile_size(0));
    cb_reserve_back(0, 1);
    noc_async_read(get_noc_addr(0, a), get_write_ptr(0), 64);
    noc_async_read_barrier();
    noc_async_write(get_write_ptr(0), get_noc_addr(0, out), 16);
    noc_async_write_barrier();
}
