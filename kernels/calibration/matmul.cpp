// The product of a core's columns: blocks of K of cb 0 (activations) and cb 1 (weights), summed in DEST, then to cb 2.
// Compile-time arguments: tile rows, blocks, tiles of K a block, columns of this core.
#include "api/compute/common.h"
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/matmul.h"

void kernel_main() {
    constexpr uint32_t rows = get_compile_time_arg_val(0), blocks = get_compile_time_arg_val(1),
                       block = get_compile_time_arg_val(2), columns = get_compile_time_arg_val(3);
    compute_kernel_hw_startup<SrcOrder::Reverse>(0, 1, 2);
    matmul_block_init(0, 1, 0, columns, rows, block);
    tile_regs_acquire();
    for (uint32_t b = 0; b < blocks; ++b) {
        cb_wait_front(0, rows * block);
        cb_wait_front(1, block * columns);
        for (uint32_t k = 0; k < block; ++k) matmul_block(0, 1, k, k * columns, 0, 0, columns, rows, block);
        cb_pop_front(0, rows * block);
        cb_pop_front(1, block * columns);
    }
    tile_regs_commit();
    cb_reserve_back(2, rows * columns);
    tile_regs_wait();
    for (uint32_t i = 0; i < rows * columns; ++i) pack_tile(i, 2);
    tile_regs_release();
    cb_push_back(2, rows * columns);
}
