// RISCV_0. A worker makes the tile of ones, sends its partial results to the owners of the output, and writes what it
// owns itself. A feeder sends on what it has read.
//
// Compile-time args   R, D, W, r, c, own tile rows, query heads, units, units a head, feeders a bank, banks, pages of a
//                     feeder's slot, slots, accessor of the output
// Common args         address of the output; tile rows of a cache
// Runtime args        role; of a worker: first unit, units, worker, NoC coordinates of the W workers;
//                     of a feeder: bank, feeder, NoC coordinates of all workers
#include "feed.h"
#include "roles.h"
#include "share.h"

using namespace attention;

void kernel_main() {
    constexpr uint32_t R = get_compile_time_arg_val(0), D = get_compile_time_arg_val(1),
                       W = get_compile_time_arg_val(2);
    constexpr uint32_t r = get_compile_time_arg_val(3), c = get_compile_time_arg_val(4);
    constexpr uint32_t own_rows = get_compile_time_arg_val(5), q_tiles = get_compile_time_arg_val(6) * D;
    constexpr uint32_t all_units = get_compile_time_arg_val(7), units_a_head = get_compile_time_arg_val(8);
    constexpr uint32_t feeders = get_compile_time_arg_val(9), banks = get_compile_time_arg_val(10);
    constexpr uint32_t slot_pages = get_compile_time_arg_val(11), slots = get_compile_time_arg_val(12);
    const auto out = TensorAccessor(TensorAccessorArgs<13>(), get_common_arg_val<uint32_t>(0), get_tile_size(CB_OUT));
    const uint32_t cache_rows = get_common_arg_val<uint32_t>(1);
    const uint32_t role = get_arg_val<uint32_t>(0), first = get_arg_val<uint32_t>(1), second = get_arg_val<uint32_t>(2);

    if (role == FEEDER) {
        const Feeder feeder{first, banks, second, feeders, all_units, units_a_head, slot_pages, slots};
        const ValidRows valid{take_valid(), cache_rows, own_rows};
        send_pages<D, W>(feeder, 3, get_semaphore(BANK_ARRIVED + feeder.bank), valid);
    }
    if (role != WORKER) return;
    const uint32_t worker = get_arg_val<uint32_t>(3);
    constexpr uint32_t coordinates = 4;
    push_ones_tile();
    for (uint32_t unit = first; unit < first + second; ++unit) {
        const ValidRows valid{take_valid(), cache_rows, own_rows};
        Exchange<R, D, W, r, c>{worker, coordinates, share_of(worker, W, valid.count())}.run();
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
