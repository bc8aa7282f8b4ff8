// Streams this core's share of the weight.
//
// Compile-time args   columns of a unit, rows of a block, slots
// Common args         address of the weight
// Runtime args        bank, offset of the share in it, width, units
#include "../shared/split_linear.h"
#include "../shared/stream.h"

void kernel_main() {
    constexpr uint32_t columns = get_compile_time_arg_val(0), block = get_compile_time_arg_val(1);
    constexpr uint32_t slots = get_compile_time_arg_val(2);
    const uint32_t address = get_common_arg_val<uint32_t>(0) + get_arg_val<uint32_t>(1);
    const uint32_t width = get_arg_val<uint32_t>(2), units = get_arg_val<uint32_t>(3);
    Stream stream(get_arg_val<uint32_t>(0), address, CB_WEIGHTS, block * columns, slots);
    for (uint32_t unit = 0; unit < units; ++unit) stream.read_blocks(width, columns, block);
    stream.finish();
}
