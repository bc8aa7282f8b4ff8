// Streams the core's columns of wqkv. On the leader of NoC 0 half of x goes first.
//
// Compile-time args   K tiles of x, tile rows, K tiles of a chunk of x, K tiles and columns of a slot of weights,
// slots,
//                     accessor of x
// Runtime args        bank, offset of the share in it, heads of the share, leader?, then its rectangle
#pragma once

#include "../shared/stream.h"
#include "lead.h"

namespace qkv {

constexpr auto x_args = TensorAccessorArgs<QKV_ARGS + 6>();

// arg: the first of the runtime args. wqkv: index of the common arg with its address. sent, await_x: as in lead.h.
// asked: what to do when the last read has been issued. Returns when all has landed.
template <typename Await, typename Work>
inline void stream_columns(uint32_t arg, uint32_t wqkv, bool sent, Await await_x, Work asked) {
    constexpr uint32_t k_tiles = get_compile_time_arg_val(QKV_ARGS), rows = get_compile_time_arg_val(QKV_ARGS + 1);
    constexpr uint32_t chunk = get_compile_time_arg_val(QKV_ARGS + 2);
    constexpr uint32_t slot = get_compile_time_arg_val(QKV_ARGS + 3), columns = get_compile_time_arg_val(QKV_ARGS + 4);
    constexpr uint32_t slots = get_compile_time_arg_val(QKV_ARGS + 5);
    const uint32_t bank = get_arg_val<uint32_t>(arg), offset = get_arg_val<uint32_t>(arg + 1);
    const uint32_t heads = get_arg_val<uint32_t>(arg + 2);
    if (get_arg_val<uint32_t>(arg + 3)) {
        const auto x = TensorAccessor(x_args, get_common_arg_val<uint32_t>(0), get_tile_size(CB_X));
        lead<Chunks<k_tiles, chunk>, k_tiles, rows>(x, everyone_from_args(arg + 4), [] {}, sent, await_x);
        noc_async_write_barrier();
    }
    Stream stream(bank, get_common_arg_val<uint32_t>(wqkv) + offset, CB_W, slot * columns, slots);
    for (uint32_t i = 0; i < heads; ++i) stream.read_blocks(k_tiles, columns, slot);
    asked();
    stream.finish();
}

}  // namespace qkv
