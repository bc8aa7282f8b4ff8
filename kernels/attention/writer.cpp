// Makes the tile of ones; sends the worker's partial results to the owners of the output; writes what this core owns.
//
// Compile-time args   R, D, W, r, c, own tile rows, query heads, accessors of the output, valid rows
// Common args         addresses of the output, valid rows; tile rows of a cache
// Runtime args        first unit, units, worker, NoC coordinates of the W workers (x, y)
#include "load.h"
#include "share.h"

void kernel_main() {
    constexpr uint32_t R = get_compile_time_arg_val(0), D = get_compile_time_arg_val(1), W = get_compile_time_arg_val(2);
    constexpr uint32_t r = get_compile_time_arg_val(3), c = get_compile_time_arg_val(4);
    constexpr uint32_t own_rows = get_compile_time_arg_val(5), q_tiles = get_compile_time_arg_val(6) * D;
    constexpr auto out_args = TensorAccessorArgs<7>();
    constexpr auto valid_args = TensorAccessorArgs<out_args.next_compile_time_args_offset()>();
    const auto out = TensorAccessor(out_args, get_common_arg_val<uint32_t>(0), get_tile_size(CB_OUT));
    const auto words = TensorAccessor(valid_args, get_common_arg_val<uint32_t>(1), WORDS_BYTES);
    const uint32_t first_unit = get_arg_val<uint32_t>(0), units = get_arg_val<uint32_t>(1);
    const uint32_t worker = get_arg_val<uint32_t>(2);
    constexpr uint32_t coordinates = 3;

    push_ones_tile();
    const ValidRows valid{read_valid(words, CB_VALID), get_common_arg_val<uint32_t>(2), own_rows};
    const Share share = share_of(worker, W, valid.count());
    for (uint32_t unit = first_unit; unit < first_unit + units; ++unit) {
        exchange<R, D, W, r, c>(worker, coordinates, share);
        const Part part = part_of<R, D, r, c>(worker);
        for (uint32_t i = 0; i < part.rows; ++i) {
            // Query rows of a unit are those of its heads one after another; in the output heads lie side by side.
            const uint32_t row = unit * R + part.row + i, head = row / own_rows;
            start_writing(out, row % own_rows * q_tiles + head * D + part.column, c, CB_OUT);
            noc_async_writes_flushed();
            cb_pop_front(CB_OUT, c);
        }
    }
    noc_async_write_barrier();
}
