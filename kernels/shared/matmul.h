// Products of activations that are all there and weights that stream by.
#pragma once

#include "api/compute/matmul.h"
#include "api/compute/tile_move_copy.h"
#include "compute.h"

// matmul_block_init, for all products of a kernel.
ONCE inline void init_products(uint32_t in, uint32_t weights, uint32_t transpose, uint32_t columns, uint32_t rows,
                               uint32_t width) {
    matmul_block_init(in, weights, transpose, columns, rows, width);
}

// DEST[r * columns + c] += sum over k of in[r][k] * weight[k][c]: `rows` x `columns` tiles, summed over all of the
// width in DEST. `in`, [rows][width] tiles, stays; the weight comes in slots of `slot` pages that hold up to `block`
// rows k. After init_products(in, weights, 0, columns, rows, width), with DEST acquired.
template <uint32_t rows, uint32_t columns>
ALWI void accumulate_products(uint32_t in, uint32_t width, uint32_t weights, uint32_t slot, uint32_t block) {
    for (uint32_t k = 0; k < width; k += block) {
        const uint32_t n = width - k < block ? width - k : block;
        cb_wait_front(weights, slot);
        for (uint32_t i = 0; i < n; ++i) {
            matmul_block(in, weights, k + i, i * columns, 0, false, columns, rows, width);
        }
        pop_front(weights, slot);
    }
}

// For each of `units` groups of `columns` columns: its products, to `out` column by column.
template <uint32_t rows, uint32_t columns>
ALWI void push_products(uint32_t in, uint32_t width, uint32_t weights, uint32_t slot, uint32_t block, uint32_t units,
                        uint32_t out) {
    DeviceZoneScopedN("products");
    reconfig_data_format(weights, in);
    pack_reconfig_data_format(out);
    init_products(in, weights, 0, columns, rows, width);
    cb_wait_front(in, rows * width);
    for (uint32_t unit = 0; unit < units; ++unit) {
        reserve_back(out, rows * columns);
        tile_regs_acquire();
        accumulate_products<rows, columns>(in, width, weights, slot, block);
        tile_regs_commit();
        tile_regs_wait();
        for (uint32_t c = 0; c < columns; ++c) {
            for (uint32_t r = 0; r < rows; ++r) pack_tile(r * columns + c, out);
        }
        tile_regs_release();
        push_back(out, rows * columns);
    }
    pop_front(in, rows * width);
}

// out = x + the sum of `parts` (even) partial results, for n columns of `rows` tiles; the parts are
// [n][parts][rows] tiles of the format of x. copies: how many buffers from `out` on get it.
template <uint32_t rows, uint32_t parts>
ALWI void add_parts(uint32_t x, uint32_t partial, uint32_t n, uint32_t out, uint32_t copies = 1) {
    if (n == 0) return;
    DeviceZoneScopedN("add parts");
    reconfig_data_format(x, x);
    pack_reconfig_data_format(out);
    cb_wait_front(x, n * rows);
    for (uint32_t i = 0; i < copies; ++i) reserve_back(out + i, n * rows);
    for (uint32_t column = 0; column < n; ++column) {
        tile_regs_acquire();
        start_copying(x);
        for (uint32_t r = 0; r < rows; ++r) copy_one(x, column * rows + r, r);
        add_init(partial, partial, true);
        cb_wait_front(partial, n * parts * rows);  // only now: all that needs none of them is done
        for (uint32_t r = 0; r < rows; ++r) {
            const uint32_t first = column * parts * rows + r;
            for (uint32_t p = 0; p < parts; p += 2) {
                add_tiles(partial, partial, first + p * rows, first + (p + 1) * rows, r);
            }
        }
        tile_regs_commit();
        tile_regs_wait();
        for (uint32_t i = 0; i < copies; ++i) pack_next(out + i, rows);
        tile_regs_release();
    }
    for (uint32_t i = 0; i < copies; ++i) push_back(out + i, n * rows);
    pop_front(x, n * rows);
    pop_front(partial, n * parts * rows);
}
