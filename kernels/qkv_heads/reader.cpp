// Streams the core's columns of wqkv. On the leader of NoC 0 half of x goes first.
//
// Compile-time args   K tiles of x, tile rows, K tiles of a chunk of x, tiles of a slot of weights, slots, accessor of
// x Common args         addresses of x, wqkv Runtime args        bank, offset of the share in it, slots of the share,
// leader?, then the leader's rectangle
#include "../shared/stream.h"
#include "lead.h"

void kernel_main() {
    constexpr uint32_t k_tiles = get_compile_time_arg_val(0), rows = get_compile_time_arg_val(1);
    constexpr uint32_t chunk = get_compile_time_arg_val(2);
    constexpr uint32_t slot = get_compile_time_arg_val(3), columns = get_compile_time_arg_val(4);
    constexpr uint32_t slots = get_compile_time_arg_val(5);
    constexpr auto x_args = TensorAccessorArgs<6>();
    const uint32_t bank = get_arg_val<uint32_t>(0), offset = get_arg_val<uint32_t>(1), heads = get_arg_val<uint32_t>(2);
    if (get_arg_val<uint32_t>(3)) {
        const auto x = TensorAccessor(x_args, get_common_arg_val<uint32_t>(0), get_tile_size(CB_X));
        lead<Chunks<k_tiles, chunk>, k_tiles, rows>(x, everyone_from_args(4), [] {});
        noc_async_write_barrier();
    }
    Stream stream(bank, get_common_arg_val<uint32_t>(1) + offset, CB_W, slot * columns, slots);
    for (uint32_t i = 0; i < heads; ++i) stream.read_blocks(k_tiles, columns, slot);
    stream.finish();
}
