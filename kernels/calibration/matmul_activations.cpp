// The activations of a 1-D multicast matmul: one core reads a block of K and multicasts it to all, block after block.
// Followers announce room with one semaphore, the leader data with another. Compile-time arguments: tile rows, tiles of
// K, tiles of K a block, followers, other cores of the rectangle, the accessor. Runtime: whether this core leads,
// address, leader (x, y), rectangle (x0, y0, x1, y1).
#include "../shared/dataflow.h"

void kernel_main() {
    constexpr uint32_t rows = get_compile_time_arg_val(0), depth = get_compile_time_arg_val(1),
                       block = get_compile_time_arg_val(2), followers = get_compile_time_arg_val(3),
                       others = get_compile_time_arg_val(4);
    constexpr auto args = TensorAccessorArgs<5>();
    const bool leads = get_arg_val<uint32_t>(0);
    const auto activations = TensorAccessor(args, get_arg_val<uint32_t>(1), get_tile_size(0));
    const uint64_t leader = get_noc_addr(get_arg_val<uint32_t>(2), get_arg_val<uint32_t>(3), get_semaphore(0));
    const auto everywhere = [](uint32_t address) {
        return get_noc_multicast_addr(get_arg_val<uint32_t>(4), get_arg_val<uint32_t>(5), get_arg_val<uint32_t>(6),
                                      get_arg_val<uint32_t>(7), address);
    };
    const uint32_t bytes = get_tile_size(0), data = get_semaphore(1);
    volatile tt_l1_ptr uint32_t* room_flag = words_at(get_semaphore(0));
    volatile tt_l1_ptr uint32_t* data_flag = words_at(data);
    if (leads) noc_semaphore_set(data_flag, 1);
    for (uint32_t first = 0; first < depth; first += block) {
        cb_reserve_back(0, rows * block);
        const uint32_t to = get_write_ptr(0);
        if (leads) {
            for (uint32_t r = 0; r < rows; ++r)
                for (uint32_t k = 0; k < block; ++k)
                    noc_async_read_page(r * depth + first + k, activations, to + (r * block + k) * bytes);
            noc_async_read_barrier();
            noc_semaphore_wait(room_flag, followers);
            noc_semaphore_set(room_flag, 0);
            noc_async_write_multicast(to, everywhere(to), rows * block * bytes, others, true);
            noc_async_writes_flushed();
            noc_semaphore_set_multicast(data, everywhere(data), others);
        } else {
            noc_semaphore_set(data_flag, 0);
            noc_semaphore_inc(leader, 1);
            noc_semaphore_wait(data_flag, 1);
        }
        cb_push_back(0, rows * block);
    }
    noc_async_write_barrier();
    noc_async_atomic_barrier();
}
