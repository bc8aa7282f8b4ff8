// Streams this core's share of the weights: its units of wo, columns of w1 and w3 side by side, its units of w2.
//
// Compile-time args   columns of a unit, rows of a block of wo; hidden, rows of a block of w1 and w3; rows of a block
// of
//                     w2; tiles of a slot, slots
// Common args         address of the weights
// Runtime args        bank, offset of the share in it, units, width of wo, own columns, width of w2
#include "../shared/stream.h"
#include "plan.h"

void kernel_main() {
    constexpr uint32_t columns = get_compile_time_arg_val(0), wo_block = get_compile_time_arg_val(1);
    constexpr uint32_t hidden = get_compile_time_arg_val(2), block = get_compile_time_arg_val(3);
    constexpr uint32_t w2_block = get_compile_time_arg_val(4);
    constexpr uint32_t slot = get_compile_time_arg_val(5), slots = get_compile_time_arg_val(6);
    const uint32_t address = get_common_arg_val<uint32_t>(0) + get_arg_val<uint32_t>(1);
    const uint32_t units = get_arg_val<uint32_t>(2), wo_width = get_arg_val<uint32_t>(3);
    const uint32_t own = get_arg_val<uint32_t>(4), w2_width = get_arg_val<uint32_t>(5);
    Stream stream(get_arg_val<uint32_t>(0), address, CB_WEIGHTS, slot, slots);
    for (uint32_t unit = 0; unit < units; ++unit) stream.read_blocks(wo_width, columns, wo_block);
    for (uint32_t column = 0; column < own; ++column) stream.read_blocks(hidden, 2, block);
    for (uint32_t unit = 0; unit < units; ++unit) stream.read_blocks(w2_width, columns, w2_block);
    stream.finish();
}
