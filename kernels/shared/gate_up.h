// silu(h w1) * (h w3), a column at a time.
#pragma once

#include "api/compute/compute_kernel_api.h"
#include "api/compute/eltwise_binary_sfpu.h"
#include "matmul.h"

// Of `h`, [rows][width] tiles, which stays until the last: `columns` columns to `out`. The weights stream by with w1
// and w3 side by side, in slots of `slot` pages that hold up to `block` rows.
template <uint32_t rows>
ALWI void gate_up(uint32_t h, uint32_t width, uint32_t weights, uint32_t slot, uint32_t block, uint32_t columns,
                  uint32_t out) {
    DeviceZoneScopedN("gate and up");
    reconfig_data_format(weights, h);
    pack_reconfig_data_format(out);
    cb_wait_front(h, rows * width);
    for (uint32_t column = 0; column < columns; ++column) {
        init_products(h, weights, 0, 2, rows, width);
        reserve_back(out, rows);
        tile_regs_acquire();
        accumulate_products<rows, 2>(h, width, weights, slot, block);
        silu_tile_init();
        for (uint32_t r = 0; r < rows; ++r) silu_tile(2 * r);
        mul_binary_tile_init();
        for (uint32_t r = 0; r < rows; ++r) mul_binary_tile(2 * r, 2 * r + 1, 2 * r);
        tile_regs_commit();
        tile_regs_wait();
        for (uint32_t r = 0; r < rows; ++r) pack_tile(2 * r, out);
        tile_regs_release();
        push_back(out, rows);
    }
    pop_front(h, rows * width);
}
