// silu(h w1) * (h w3) for own columns; partial results of the group's columns through w2; the sum of all groups' for
// owned columns.
//
// Compile-time args   rows, hidden, rows of a block of w1 and w3; columns of a unit of w2, rows of its blocks; tiles of
//                     a slot; parts
// Runtime args        own columns, width, units, owned
#include "../shared/matmul.h"
#include "api/compute/compute_kernel_api.h"
#include "api/compute/eltwise_binary_sfpu.h"
#include "cbs.h"

void kernel_main() {
    constexpr uint32_t rows = get_compile_time_arg_val(0);
    constexpr uint32_t hidden = get_compile_time_arg_val(1), block = get_compile_time_arg_val(2);
    constexpr uint32_t columns = get_compile_time_arg_val(3), down_block = get_compile_time_arg_val(4);
    constexpr uint32_t slot = get_compile_time_arg_val(5), parts = get_compile_time_arg_val(6);
    const uint32_t own = get_arg_val<uint32_t>(0), width = get_arg_val<uint32_t>(1);
    const uint32_t units = get_arg_val<uint32_t>(2), owned = get_arg_val<uint32_t>(3);

    compute_kernel_hw_startup<SrcOrder::Reverse>(CB_H, CB_WEIGHTS, CB_OWN);
    cb_wait_front(CB_H, rows * hidden);
    for (uint32_t column = 0; column < own; ++column) {
        matmul_block_init(CB_H, CB_WEIGHTS, 0, 2, rows, hidden);
        cb_reserve_back(CB_OWN, rows);
        tile_regs_acquire();
        accumulate_products<rows, 2>(CB_H, hidden, CB_WEIGHTS, slot, block);  // DEST: w1, w3 of a row side by side
        silu_tile_init();
        for (uint32_t r = 0; r < rows; ++r) silu_tile(2 * r);
        mul_binary_tile_init();
        for (uint32_t r = 0; r < rows; ++r) mul_binary_tile(2 * r, 2 * r + 1, 2 * r);
        tile_regs_commit();
        tile_regs_wait();
        for (uint32_t r = 0; r < rows; ++r) pack_tile(2 * r, CB_OWN);
        tile_regs_release();
        cb_push_back(CB_OWN, rows);
    }
    cb_pop_front(CB_H, rows * hidden);
    push_products<rows, columns>(CB_IN, width, CB_WEIGHTS, slot, down_block, units, CB_PARTIAL);
    add_parts<rows, parts>(CB_X, CB_PARTS, owned, CB_OUT);
}
