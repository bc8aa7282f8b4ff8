// The core at (0,0) reads tiles and multicasts each to all others, which write their share; RISCV_1 does that for the
// even tiles over NoC 0, RISCV_0 for the odd ones over NoC 1. Each counts its tiles in a flag of its own, whose numbers
// nobody need have seen before the next. A rectangle has an address for each NoC, a core the same for both.
// Compile-time arguments: n, the accessors of a and out. Common: addresses of a and out, number of receivers, rectangle
// (x0, y0, x1, y1). Runtime: the first tile of out.
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    constexpr uint32_t n = get_compile_time_arg_val(0);
    constexpr auto args = TensorAccessorArgs<1>();
    constexpr auto out_args = TensorAccessorArgs<args.next_compile_time_args_offset()>();
    const auto a = TensorAccessor(args, get_common_arg_val<uint32_t>(0), get_tile_size(0));
    const auto out = TensorAccessor(out_args, get_common_arg_val<uint32_t>(1), get_tile_size(0));
    const uint32_t receivers = get_common_arg_val<uint32_t>(2), flag = get_semaphore(noc_index);
    auto* flag_ptr = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(flag);
    const auto everywhere = [](uint32_t address) {
        constexpr uint32_t from = noc_index ? 5 : 3, to = noc_index ? 3 : 5;
        return get_noc_multicast_addr(get_common_arg_val<uint32_t>(from), get_common_arg_val<uint32_t>(from + 1),
                                      get_common_arg_val<uint32_t>(to), get_common_arg_val<uint32_t>(to + 1), address);
    };
    const bool sender = get_absolute_logical_x() == 0 && get_absolute_logical_y() == 0;
    for (uint32_t i = noc_index; i < n; i += 2) {
        const uint32_t tile = get_write_ptr(0) + i * get_tile_size(0), count = i / 2 + 1;
        if (sender) {
            noc_async_read_page(i, a, tile);
            noc_async_read_barrier();
            noc_async_write_multicast(tile, everywhere(tile), get_tile_size(0), receivers);
            noc_async_writes_flushed();
            noc_semaphore_set(flag_ptr, count);
            noc_semaphore_set_multicast(flag, everywhere(flag), receivers);
        } else {
            noc_semaphore_wait_min(flag_ptr, count);
        }
        noc_async_write_page(get_arg_val<uint32_t>(0) + i, out, tile);
    }
    noc_async_write_barrier();
}
