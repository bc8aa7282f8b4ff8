// The multicast of multicast.cpp in the object interface: Noc, CircularBuffer, Semaphore.
// Compile-time arguments: n, the accessor. Common: address, receivers, rectangle (x0, y0, x1, y1), sender (x, y).
#include "api/dataflow/circular_buffer.h"
#include "api/dataflow/endpoints.h"
#include "api/dataflow/noc_semaphore.h"
#include "api/tensor/noc_traits.h"

void kernel_main() {
    constexpr uint32_t n = get_compile_time_arg_val(0);
    constexpr auto args = TensorAccessorArgs<1>();
    const auto a = TensorAccessor(args, get_common_arg_val<uint32_t>(0), get_tile_size(0));
    const uint32_t receivers = get_common_arg_val<uint32_t>(1);
    const uint32_t x0 = get_common_arg_val<uint32_t>(2), y0 = get_common_arg_val<uint32_t>(3);
    const uint32_t x1 = get_common_arg_val<uint32_t>(4), y1 = get_common_arg_val<uint32_t>(5);
    Noc noc;
    CircularBuffer cb(0);
    Semaphore<> room(0), data(1);
    const bool sender = get_absolute_logical_x() == 0 && get_absolute_logical_y() == 0;
    if (sender) data.set(1);
    for (uint32_t i = 0; i < n; ++i) {
        cb.reserve_back(1);
        if (sender) {
            noc.async_read(a, cb, cb.get_tile_size(), {.page_id = i}, {.offset_bytes = 0});
            noc.async_read_barrier();
            room.wait(receivers);
            room.set(0);
            const uint32_t tile = cb.get_write_ptr();
            noc.async_write_multicast(
                UnicastEndpoint{}, MulticastEndpoint{}, cb.get_tile_size(), receivers,
                {.noc_x = 0, .noc_y = 0, .addr = tile},
                {.noc_x_start = x0, .noc_y_start = y0, .noc_x_end = x1, .noc_y_end = y1, .addr = tile});
            noc.async_writes_flushed();
            data.set_multicast(noc, x0, y0, x1, y1, receivers);
        } else {
            data.set(0);
            room.up(noc, get_common_arg_val<uint32_t>(6), get_common_arg_val<uint32_t>(7), 1);
            data.wait(1);
        }
        cb.push_back(1);
    }
    noc.async_full_barrier();
}
