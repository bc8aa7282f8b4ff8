// Every core passes a tile to its right neighbour, as often as it is told; between the rounds all cores wait for each
// other: they count in at core (0,0), which multicasts the number of the round to all, itself included.
// Compile-time arguments: rounds (even), cores, the accessor. Common: address, rectangle of all cores, (x, y) of the
// first. Runtime: tile, right (x, y).
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    constexpr uint32_t rounds = get_compile_time_arg_val(0), cores = get_compile_time_arg_val(1);
    constexpr auto args = TensorAccessorArgs<2>();
    const auto a = TensorAccessor(args, get_common_arg_val<uint32_t>(0), get_tile_size(0));
    const uint32_t arrived = get_semaphore(0), round = get_semaphore(1), next = get_semaphore(2);
    auto* arrived_ptr = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(arrived);
    auto* round_ptr = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(round);
    auto* next_ptr = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(next);
    const bool first = get_absolute_logical_x() == 0 && get_absolute_logical_y() == 0;
    cb_reserve_back(0, 2);
    const uint32_t inbox[2] = {get_write_ptr(0), get_write_ptr(0) + uint32_t(get_tile_size(0))};
    noc_async_read_page(get_arg_val<uint32_t>(0), a, inbox[0]);
    noc_async_read_barrier();
    for (uint32_t r = 0; r < rounds; ++r) {
        const uint64_t right = get_noc_addr(get_arg_val<uint32_t>(1), get_arg_val<uint32_t>(2), inbox[(r + 1) % 2]);
        noc_async_write(inbox[r % 2], right, get_tile_size(0));
        noc_async_write_barrier();
        noc_semaphore_inc(get_noc_addr(get_common_arg_val<uint32_t>(5), get_common_arg_val<uint32_t>(6), arrived), 1);
        if (first) {
            noc_semaphore_wait(arrived_ptr, cores);
            noc_semaphore_set(arrived_ptr, 0);
            noc_semaphore_set(next_ptr, r + 1);
            const uint64_t all =
                get_noc_multicast_addr(get_common_arg_val<uint32_t>(1), get_common_arg_val<uint32_t>(2),
                                       get_common_arg_val<uint32_t>(3), get_common_arg_val<uint32_t>(4), round);
            noc_semaphore_set_multicast_loopback_src(next, all, cores);
        }
        noc_semaphore_wait_min(round_ptr, r + 1);
    }
    noc_async_write_barrier();
    noc_async_atomic_barrier();
    cb_push_back(0, 2);
}
