// Circular buffers of a program that does the same again: what a turn pushes need not fill them, so when it is over
// each goes on to its end, with pages that nobody looks at, and is where it began. Every thread has pointers of its
// own.
#pragma once

#include "once.h"

// Pages from `pointer` to the end of a circular buffer; none if that is at its begin. (The unpacker's view of a real
// one has no fifo_num_pages.)
inline uint32_t pages_left(uint32_t cb, uint32_t pointer) {
    const auto& view = get_local_cb_interface(cb);
    const uint32_t left = view.fifo_limit - pointer;
    return left < view.fifo_size ? left / view.fifo_page_size : 0;
}

// Where a circular buffer begins, and where the next turn finds what is put there in this one.
inline uint32_t begin_of(uint32_t cb) {
    const auto& view = get_local_cb_interface(cb);
    return view.fifo_limit - view.fifo_size;
}

inline void push_rest(uint32_t cb) {
    const uint32_t pages = pages_left(cb, get_local_cb_interface(cb).fifo_wr_ptr);
    if (pages == 0) return;
    cb_reserve_back(cb, pages);
    cb_push_back(cb, pages);
}

inline void pop_rest(uint32_t cb) {
    const uint32_t pages = pages_left(cb, get_local_cb_interface(cb).fifo_rd_ptr);
    if (pages == 0) return;
    cb_wait_front(cb, pages);
    cb_pop_front(cb, pages);
}

// low, high: which circular buffers, a bit each. All that was pushed has been popped, or will be without this thread.
template <uint32_t low, uint32_t high>
ONCE void rewind() {
    for (uint32_t cb = 0; cb < 64; ++cb) {
        if (((cb < 32 ? low >> cb : high >> (cb - 32)) & 1) == 0) continue;
#ifdef PACK  // a compute kernel
        PACK(push_rest(cb));
        UNPACK(pop_rest(cb));
#else
        push_rest(cb);
        pop_rest(cb);
#endif
    }
}
