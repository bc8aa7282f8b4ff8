// Queries to a tensor of their own.
//
// Compile-time args   those of writer.h, accessor of q
// Common args         those of writer.h, the layer's own, address of q
// Runtime args        those of writer.h
#include "writer.h"

using namespace qkv;

void kernel_main() {
    constexpr auto q_args = TensorAccessorArgs<cache_args.next_compile_time_args_offset()>();
    const auto q = TensorAccessor(q_args, get_common_arg_val<uint32_t>(COMMON_ARGS + OWN_ARGS), get_tile_size(CB_Q));
    const auto give_queries = [&](uint32_t head, uint32_t part, uint32_t row) {
        start_writing_rows(q, CB_Q, (head * rows + row) * d, part);
    };
    write_heads(0, COMMON_ARGS, false, [] {}, give_queries);
    noc_async_write_barrier();
    noc_async_atomic_barrier();
}
