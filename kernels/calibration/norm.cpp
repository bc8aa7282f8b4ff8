// Root mean square norm of one row of tiles in four passes, a tile of DEST at a time: squares to cb 3, their sum to the
// row factors in cb 4, x times the factors to cb 6, times gamma to cb 2. Compile-time arguments: tiles a row, epsilon.
#include "api/compute/bcast.h"
#include "api/compute/common.h"
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_binary.h"
#include "api/compute/eltwise_unary/binop_with_scalar.h"
#include "api/compute/eltwise_unary/rsqrt.h"
#include "api/compute/reduce.h"

template <class Tile>
void pass(uint32_t width, uint32_t in, uint32_t out, Tile tile) {
    for (uint32_t i = 0; i < width; ++i) {
        cb_wait_front(in, i + 1);
        cb_reserve_back(out, 1);
        tile_regs_acquire();
        tile(i);
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, out);
        tile_regs_release();
        cb_push_back(out, 1);
    }
}

void kernel_main() {
    constexpr uint32_t width = get_compile_time_arg_val(0), eps = get_compile_time_arg_val(1);
    compute_kernel_hw_startup(0, 0, 3);
    cb_wait_front(1, 1);
    mul_init(0, 0);
    pass(width, 0, 3, [](uint32_t i) { mul_tiles(0, 0, i, i, 0); });

    reconfig_data_format(1, 3);
    pack_reconfig_data_format(4);
    reduce_init<PoolType::SUM, ReduceDim::REDUCE_ROW>(3, 1, 4);
    cb_wait_front(3, width);
    cb_reserve_back(4, 1);
    tile_regs_acquire();
    for (uint32_t i = 0; i < width; ++i) reduce_tile<PoolType::SUM, ReduceDim::REDUCE_ROW>(3, 1, i, 0, 0);
    binop_with_scalar_tile_init();
    add_unary_tile(0, eps);
    rsqrt_tile_init();
    rsqrt_tile(0);
    tile_regs_commit();
    tile_regs_wait();
    pack_tile(0, 4);
    tile_regs_release();
    reduce_uninit();
    cb_push_back(4, 1);

    reconfig_data_format(0, 4);
    pack_reconfig_data_format(6);
    mul_bcast_cols_init(0, 4);
    cb_wait_front(4, 1);
    pass(width, 0, 6, [](uint32_t i) { mul_tiles_bcast_cols(0, 4, i, 0, 0); });

    reconfig_data_format(6, 5);
    pack_reconfig_data_format(2);
    mul_bcast_rows_init(6, 5);
    cb_wait_front(5, width);
    pass(width, 6, 2, [](uint32_t i) { mul_tiles_bcast_rows(6, 5, i, i, 0); });
    cb_pop_front(0, width);
    cb_pop_front(1, 1);
    cb_pop_front(3, width);
    cb_pop_front(4, 1);
    cb_pop_front(5, width);
    cb_pop_front(6, width);
}
