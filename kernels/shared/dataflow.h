// What the data-movement kernels share.
#pragma once

#include "api/dataflow/dataflow_api.h"
#include "api/debug/kernel_profiler.hpp"
#include "once.h"

inline volatile tt_l1_ptr uint32_t* words_at(uint32_t l1_address) {
    return reinterpret_cast<volatile tt_l1_ptr uint32_t*>(l1_address);
}

// An address on the core at a place, x << 16 | y.
inline uint64_t on_core(uint32_t place, uint32_t address) { return get_noc_addr(place >> 16, place & 0xFFFF, address); }

// The NoC's own, once.
ONCE inline void send(uint32_t from, uint64_t to, uint32_t bytes) { noc_async_write(from, to, bytes); }
ONCE inline void increment(uint64_t semaphore, uint32_t n) { noc_semaphore_inc(semaphore, n); }

// Starts reading n consecutive pages of a tensor into the back of a circular buffer. The caller waits and pushes.
template <typename Accessor>
inline void start_reading(const Accessor& tensor, uint32_t first_page, uint32_t n, uint32_t cb) {
    cb_reserve_back(cb, n);
    const uint32_t to = get_write_ptr(cb);
    for (uint32_t i = 0; i < n; ++i) noc_async_read_page(first_page + i, tensor, to + i * get_tile_size(cb));
}

// Starts writing the n front tiles of a circular buffer to consecutive pages of a tensor. The caller waits and pops.
template <typename Accessor>
inline void start_writing(const Accessor& tensor, uint32_t first_page, uint32_t n, uint32_t cb) {
    cb_wait_front(cb, n);
    const uint32_t from = get_read_ptr(cb);
    for (uint32_t i = 0; i < n; ++i) noc_async_write_page(first_page + i, tensor, from + i * get_tile_size(cb));
}

// Pushes the scaler of a sum: a bf16 tile with ones in the first row of each of its four faces, zeros elsewhere.
inline void push_ones(uint32_t cb) {
    constexpr uint32_t face_words = 128, row_words = 8, two_ones = 0x3F803F80;
    cb_reserve_back(cb, 1);
    volatile tt_l1_ptr uint32_t* tile = words_at(get_write_ptr(cb));
    for (uint32_t i = 0; i < 4 * face_words; ++i) tile[i] = i % face_words < row_words ? two_ones : 0;
    cb_push_back(cb, 1);
}
