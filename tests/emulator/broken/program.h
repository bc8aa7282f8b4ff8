// The program around every broken kernel here: two cores, (0,0) and (1,0), that read four tiles each of tensor `a`, and
// write four tiles of tensor `out`. One file holds all its kernels: READER (RISCV_1), WRITER (RISCV_0), COMPUTE.
//   cb 0, 1, 2: bf16, 4 pages · cb 3: bfp8, 4 pages · cb 4: fp32, 2 pages · cb 5: bf16 with pages of half a tile
//   semaphores 0 and 1, both 0 · arguments 0 and 1: NoC coordinates of the other core
#pragma once

#if defined(COMPILE_FOR_NCRISC)
#define READER
#elif defined(COMPILE_FOR_BRISC)
#define WRITER
#else
#define COMPUTE
#endif

constexpr uint32_t kTiles = 4;

#ifdef COMPUTE

#include "api/compute/bcast.h"
#include "api/compute/common.h"
#include "api/compute/compute_kernel_api.h"
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_binary.h"
#include "api/compute/eltwise_unary/exp.h"
#include "api/compute/eltwise_unary/recip.h"
#include "api/compute/reduce.h"
#include "api/compute/tile_move_copy.h"

// cb 0 to cb 2, tile by tile.
ALWI void copy_tiles(uint32_t from = 0, uint32_t to = 2) {
    for (uint32_t i = 0; i < kTiles; ++i) {
        cb_wait_front(from, 1);
        cb_reserve_back(to, 1);
        tile_regs_acquire();
        copy_tile(from, 0, 0);
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, to);
        tile_regs_release();
        cb_push_back(to, 1);
        cb_pop_front(from, 1);
    }
}

#else

#include "api/dataflow/dataflow_api.h"

using Word = volatile tt_l1_ptr uint32_t*;

FORCE_INLINE bool first_core() { return get_absolute_logical_x() == 0; }
FORCE_INLINE auto input() {
    return TensorAccessor(TensorAccessorArgs<0>(), get_common_arg_val<uint32_t>(0), get_tile_size(0));
}
FORCE_INLINE auto output() {
    return TensorAccessor(TensorAccessorArgs<2>(), get_common_arg_val<uint32_t>(1), get_tile_size(0));
}
FORCE_INLINE uint32_t first_tile() { return get_absolute_logical_x() * kTiles; }
FORCE_INLINE uint64_t there(uint32_t address) {
    return get_noc_addr(get_arg_val<uint32_t>(0), get_arg_val<uint32_t>(1), address);
}

// One correct tile.
FORCE_INLINE void read_tile(uint32_t cb, uint32_t i) {
    cb_reserve_back(cb, 1);
    noc_async_read_page(first_tile() + i, input(), get_write_ptr(cb));
    noc_async_read_barrier();
    cb_push_back(cb, 1);
}
FORCE_INLINE void write_tile(uint32_t cb, uint32_t i) {
    cb_wait_front(cb, 1);
    noc_async_write_page(first_tile() + i, output(), get_read_ptr(cb));
    noc_async_write_barrier();
    cb_pop_front(cb, 1);
}
FORCE_INLINE void read_tiles(uint32_t cb) {
    for (uint32_t i = 0; i < kTiles; ++i) read_tile(cb, i);
}
FORCE_INLINE void write_tiles(uint32_t cb) {
    for (uint32_t i = 0; i < kTiles; ++i) write_tile(cb, i);
}

#endif
