// A tile from a circular buffer to DEST.
#pragma once

#include "api/compute/common.h"

namespace lb {

ALWI void move_init(Fpu op) {
    UNPACK((lb_unpack_init(config(op), Block{})));
    MATH((lb_math_init(config(op), Block{})));
}

ALWI void move_tile(Fpu op, uint32_t cb, uint32_t tile, uint32_t dst) {
    UNPACK((lb_unpack(config(op), cb, tile, cb, tile, Block{})));
    MATH((lb_math(config(op), dst, 1, Block{})));
}

}  // namespace lb

namespace ckernel {

template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void copy_init(uint32_t cbid, uint32_t transpose = 0, uint32_t transpose_within_16x16_face = false) {
    ASSERT(transpose == 0 && transpose_within_16x16_face == 0);
    lb::move_init(lb::Fpu::Copy);
}

template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void copy_tile(uint32_t in_cb_id, uint32_t in_tile_index, uint32_t dst_tile_index) {
    lb::move_tile(lb::Fpu::Copy, in_cb_id, in_tile_index, dst_tile_index);
}

template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
ALWI void copy_block(uint32_t in_cb_id, uint32_t start_in_tile_index, uint32_t start_dst_tile_index, uint32_t ntiles) {
    for (uint32_t i = 0; i < ntiles; ++i) copy_tile(in_cb_id, start_in_tile_index + i, start_dst_tile_index + i);
}

template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
[[deprecated("Renamed to copy_init()")]] ALWI void copy_tile_init(uint32_t cbid) {
    copy_init(cbid);
}

template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
[[deprecated("Renamed to copy_init()")]] ALWI void copy_tile_to_dst_init_short(
    uint32_t cbid, uint32_t transpose = 0, uint32_t transpose_within_16x16_face = false) {
    copy_init(cbid, transpose, transpose_within_16x16_face);
}

}  // namespace ckernel
