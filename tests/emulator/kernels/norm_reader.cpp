// Makes the scaler tile in cb 1 (bf16, row 0 of each face), then reads rows of tiles into cb 0.
// Compile-time arguments: tiles a row, the scaler as two bf16, the accessor. Runtime: address, first row, rows.
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    constexpr uint32_t width = get_compile_time_arg_val(0), scaler = get_compile_time_arg_val(1);
    constexpr auto args = TensorAccessorArgs<2>();
    const auto a = TensorAccessor(args, get_arg_val<uint32_t>(0), get_tile_size(0));
    const uint32_t first = get_arg_val<uint32_t>(1), rows = get_arg_val<uint32_t>(2);
    cb_reserve_back(1, 1);
    volatile tt_l1_ptr uint32_t* tile = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_write_ptr(1));
    for (uint32_t i = 0; i < 512; ++i) tile[i] = i % 128 < 8 ? scaler : 0;
    cb_push_back(1, 1);
    for (uint32_t r = first; r < first + rows; ++r) {
        cb_reserve_back(0, width);
        const uint32_t to = get_write_ptr(0);
        for (uint32_t i = 0; i < width; ++i) noc_async_read_page(r * width + i, a, to + i * get_tile_size(0));
        noc_async_read_barrier();
        cb_push_back(0, width);
    }
}
