// On a worker: streams its share of the weights, columns of w1 and w3 side by side, then its units of w2.
// On the leader: the first half of the input, to all cores over NoC 0.
//
// Compile-time args   tiles of the input, hidden, rows of a block of w1 and w3; columns of a unit of w2, rows of its
//                     blocks; tiles of a slot, slots; grid's first and last core in NoC coordinates, its size; accessor
// Common args         addresses of the weights, of the input
// Runtime args        role; of a worker bank, offset of the share in it, own columns, width, units
#include "../shared/multicast.h"
#include "../shared/stream.h"
#include "cbs.h"
#include "role.h"

void kernel_main() {
    constexpr uint32_t n = get_compile_time_arg_val(0);
    constexpr uint32_t hidden = get_compile_time_arg_val(1), block = get_compile_time_arg_val(2);
    constexpr uint32_t columns = get_compile_time_arg_val(3), down_block = get_compile_time_arg_val(4);
    constexpr uint32_t slot = get_compile_time_arg_val(5), slots = get_compile_time_arg_val(6);
    const uint32_t role = get_arg_val<uint32_t>(0);
    if (role == LEADER) {
        const Everyone everyone{get_compile_time_arg_val(7), get_compile_time_arg_val(8), get_compile_time_arg_val(9),
                                get_compile_time_arg_val(10), get_compile_time_arg_val(11) - 1};
        constexpr auto args = TensorAccessorArgs<12>();
        const auto h = TensorAccessor(args, get_common_arg_val<uint32_t>(1), get_tile_size(CB_H));
        read_and_multicast(h, 0, n / 2, get_write_ptr(CB_H), get_tile_size(CB_H), get_semaphore(ARRIVED[0]), everyone);
    }
    if (role != WORKER) return;
    const uint32_t own = get_arg_val<uint32_t>(3), width = get_arg_val<uint32_t>(4), units = get_arg_val<uint32_t>(5);
    const uint32_t address = get_common_arg_val<uint32_t>(0) + get_arg_val<uint32_t>(2);
    Stream stream(get_arg_val<uint32_t>(1), address, CB_WEIGHTS, slot, slots);
    for (uint32_t column = 0; column < own; ++column) stream.read_blocks(hidden, 2, block);
    for (uint32_t unit = 0; unit < units; ++unit) stream.read_blocks(width, columns, down_block);
    stream.finish();
}
