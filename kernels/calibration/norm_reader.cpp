// What the reader of ttnn's rms_norm does for one row of tiles: a scaler and epsilon-like tile in cb 1, the row in cb
// 0, then gamma in cb 5, a block in flight at a time. Compile-time arguments: tiles a row, tiles a block, the scaler as
// two bf16, the accessors. Runtime: addresses, row.
#include "api/dataflow/dataflow_api.h"

template <class Accessor>
void read_row(uint32_t cb, const Accessor& from, uint32_t first, uint32_t width, uint32_t block) {
    for (uint32_t i = 0; i < width; i += block) {
        cb_reserve_back(cb, block);
        for (uint32_t k = 0; k < block; ++k)
            noc_async_read_page(first + i + k, from, get_write_ptr(cb) + k * get_tile_size(cb));
        noc_async_read_barrier();
        cb_push_back(cb, block);
    }
}

void kernel_main() {
    constexpr uint32_t width = get_compile_time_arg_val(0), block = get_compile_time_arg_val(1);
    constexpr uint32_t scaler = get_compile_time_arg_val(2);
    constexpr auto x_args = TensorAccessorArgs<3>();
    constexpr auto gamma_args = TensorAccessorArgs<x_args.next_compile_time_args_offset()>();
    const auto x = TensorAccessor(x_args, get_arg_val<uint32_t>(0), get_tile_size(0));
    const auto gamma = TensorAccessor(gamma_args, get_arg_val<uint32_t>(1), get_tile_size(5));
    cb_reserve_back(1, 1);
    volatile tt_l1_ptr uint32_t* tile = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_write_ptr(1));
    for (uint32_t i = 0; i < 512; ++i) tile[i] = i % 128 < 8 ? scaler : 0;
    cb_push_back(1, 1);
    read_row(0, x, get_arg_val<uint32_t>(2) * width, width, block);
    read_row(5, gamma, 0, width, block);
}
