// Reads tiles [first, first + n) of one or two tensors into cb 0 (and 1), a block at a time.
// Compile-time arguments: tensors, tiles a block, then an accessor a tensor. Runtime: addresses, first, n.
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    constexpr uint32_t tensors = get_compile_time_arg_val(0), block = get_compile_time_arg_val(1);
    constexpr auto a_args = TensorAccessorArgs<2>();
    constexpr auto b_args = TensorAccessorArgs<tensors == 2 ? a_args.next_compile_time_args_offset() : 2>();
    const uint32_t first = get_arg_val<uint32_t>(2), n = get_arg_val<uint32_t>(3);
    const auto a = TensorAccessor(a_args, get_arg_val<uint32_t>(0), get_tile_size(0));
    const auto b = TensorAccessor(b_args, get_arg_val<uint32_t>(1), get_tile_size(tensors - 1));
    for (uint32_t i = first; i < first + n; i += block) {
        cb_reserve_back(0, block);
        if constexpr (tensors == 2) cb_reserve_back(1, block);
        for (uint32_t k = 0; k < block; ++k) {
            noc_async_read_page(i + k, a, get_write_ptr(0) + k * get_tile_size(0));
            if constexpr (tensors == 2) noc_async_read_page(i + k, b, get_write_ptr(1) + k * get_tile_size(1));
        }
        noc_async_read_barrier();
        cb_push_back(0, block);
        if constexpr (tensors == 2) cb_push_back(1, block);
    }
}
