// The core at (0,0) reads tiles and multicasts each to all others, which write their share: receivers announce room
// with one semaphore, the sender data with another. Runs on RISCV_1, NoC 0. Compile-time arguments: n, the accessor.
// Common: address, number of receivers, rectangle (x0, y0, x1, y1), sender (x, y).
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    constexpr uint32_t n = get_compile_time_arg_val(0);
    constexpr auto args = TensorAccessorArgs<1>();
    const auto a = TensorAccessor(args, get_common_arg_val<uint32_t>(0), get_tile_size(0));
    const uint32_t receivers = get_common_arg_val<uint32_t>(1);
    const uint32_t room = get_semaphore(0), data = get_semaphore(1);
    volatile tt_l1_ptr uint32_t* room_ptr = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(room);
    volatile tt_l1_ptr uint32_t* data_ptr = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(data);
    const auto everywhere = [&](uint32_t address) {
        return get_noc_multicast_addr(get_common_arg_val<uint32_t>(2), get_common_arg_val<uint32_t>(3),
                                      get_common_arg_val<uint32_t>(4), get_common_arg_val<uint32_t>(5), address);
    };
    const bool sender = get_absolute_logical_x() == 0 && get_absolute_logical_y() == 0;
    if (sender) noc_semaphore_set(data_ptr, 1);
    for (uint32_t i = 0; i < n; ++i) {
        cb_reserve_back(0, 1);
        const uint32_t tile = get_write_ptr(0);
        if (sender) {
            noc_async_read_page(i, a, tile);
            noc_async_read_barrier();
            noc_semaphore_wait(room_ptr, receivers);
            noc_semaphore_set(room_ptr, 0);
            noc_async_write_multicast(tile, everywhere(tile), get_tile_size(0), receivers);
            noc_async_writes_flushed();
            noc_semaphore_set_multicast(data, everywhere(data), receivers);
        } else {
            noc_semaphore_set(data_ptr, 0);
            noc_semaphore_inc(get_noc_addr(get_common_arg_val<uint32_t>(6), get_common_arg_val<uint32_t>(7), room), 1);
            noc_semaphore_wait(data_ptr, 1);
        }
        cb_push_back(0, 1);
    }
    noc_async_write_barrier();
    noc_async_atomic_barrier();
}
