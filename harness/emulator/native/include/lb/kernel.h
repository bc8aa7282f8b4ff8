// What every kernel sees, dataflow and compute alike: attributes, the machine's interface, arguments, circular buffers'
// static properties. Macros set by the build of a kernel:
//   LB_CB_FORMATS, LB_CB_TILE_BYTES  the circular buffers of its cores, 64 numbers each
//   KERNEL_COMPILE_TIME_ARGS, KERNEL_COMPILE_TIME_ARG_MAP, and the kernel's own defines
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <cstdint>

#include "lb/abi.h"

#define FORCE_INLINE inline __attribute__((always_inline))
#define ALWI inline __attribute__((always_inline))
#define tt_l1_ptr
#define tt_reg_ptr

using uint = unsigned int;

#include "api/compile_time_args.h"
#include "api/debug/assert.h"
#include "api/debug/kernel_profiler.hpp"

constexpr uint32_t NUM_CIRCULAR_BUFFERS = 64;
constexpr uint32_t L1_ALIGNMENT = 16, DRAM_ALIGNMENT = 64;
constexpr uint32_t NOC_MAX_BURST_SIZE = 16384;
constexpr uint32_t MEM_ZEROS_BASE = 13536, MEM_ZEROS_SIZE = 512;  // of L1, always zero
constexpr uint32_t INVALID = 0, VALID = 1;                        // of semaphores
#define RISCV_DEBUG_REG_WALL_CLOCK_L 0xFFB121F0u
#define RISCV_DEBUG_REG_WALL_CLOCK_H 0xFFB121F8u

// tt-metal's numbers, as far as the emulator has the formats.
enum class DataFormat : uint8_t {
    Float32 = 0,
    Tf32 = 4,
    Float16_b = 5,
    Bfp8_b = 6,
    Bfp4_b = 7,
    Int32 = 8,
    UInt16 = 9,
    UInt32 = 24,
    UInt8 = 30,
    Invalid = 255
};

constexpr uint8_t unpack_src_format[NUM_CIRCULAR_BUFFERS] = {LB_CB_FORMATS};
constexpr uint16_t unpack_tile_size[NUM_CIRCULAR_BUFFERS] = {LB_CB_TILE_BYTES};

// Constant indices come out as constants, as kernels rely on.
constexpr int32_t get_tile_size(int32_t cb) { return unpack_tile_size[cb]; }
constexpr uint32_t get_tile_hw(int32_t) { return 1024; }
constexpr uint32_t get_tile_num_faces(int32_t) { return 4; }
constexpr DataFormat get_dataformat(int32_t cb) { return DataFormat(unpack_src_format[cb]); }

// By value: the machine keeps the pointers, a kernel that changes its copy changes nothing.
FORCE_INLINE const LocalCBInterface& get_local_cb_interface(uint32_t cb) { return *lb_cb_interface(cb); }

template <typename T>
FORCE_INLINE T get_arg_val(int index) {
    static_assert(sizeof(T) == 4, "only arguments of 4 B are supported");
    const uint32_t value = lb_arg(index);
    T result;
    __builtin_memcpy(&result, &value, 4);
    return result;
}

template <typename T>
FORCE_INLINE T get_common_arg_val(int index) {
    static_assert(sizeof(T) == 4, "only arguments of 4 B are supported");
    const uint32_t value = lb_common_arg(index);
    T result;
    __builtin_memcpy(&result, &value, 4);
    return result;
}

FORCE_INLINE uintptr_t get_arg_addr(int index) { return lb_arg_address(index); }
FORCE_INLINE uintptr_t get_common_arg_addr(int index) { return lb_common_arg_address(index); }

FORCE_INLINE uint8_t get_absolute_logical_x() { return lb_logical_coordinate(false, false); }
FORCE_INLINE uint8_t get_absolute_logical_y() { return lb_logical_coordinate(true, false); }
FORCE_INLINE uint8_t get_relative_logical_x() { return lb_logical_coordinate(false, true); }
FORCE_INLINE uint8_t get_relative_logical_y() { return lb_logical_coordinate(true, true); }
