// Streams this core's share of the weights: columns of w1 and w3 side by side, then its units of w2.
//
// Compile-time args   hidden, rows of a block of w1 and w3; columns of a unit of w2, rows of its blocks; tiles of a
//                     slot, slots
// Common args         addresses of the weights, of x1
// Runtime args        bank, offset of the share in it, own columns, width, units
#include "../shared/split_cbs.h"
#include "../shared/stream.h"

void kernel_main() {
    constexpr uint32_t hidden = get_compile_time_arg_val(0), block = get_compile_time_arg_val(1);
    constexpr uint32_t columns = get_compile_time_arg_val(2), down_block = get_compile_time_arg_val(3);
    constexpr uint32_t slot = get_compile_time_arg_val(4), slots = get_compile_time_arg_val(5);
    const uint32_t address = get_common_arg_val<uint32_t>(0) + get_arg_val<uint32_t>(1);
    const uint32_t own = get_arg_val<uint32_t>(2), width = get_arg_val<uint32_t>(3), units = get_arg_val<uint32_t>(4);
    Stream stream(get_arg_val<uint32_t>(0), address, CB_WEIGHTS, slot, slots);
    for (uint32_t column = 0; column < own; ++column) stream.read_blocks(hidden, 2, block);
    for (uint32_t unit = 0; unit < units; ++unit) stream.read_blocks(width, columns, down_block);
    stream.finish();
}
