// A circular buffer as an object, in data-movement and compute kernels.
#pragma once

#ifdef COMPILE_FOR_TRISC
#include "api/compute/cb_api.h"
#else
#include "api/dataflow/noc.h"
#endif

class CircularBuffer {
  public:
    explicit FORCE_INLINE CircularBuffer(uint32_t cb_id) : cb_id_(cb_id) {}
    FORCE_INLINE uint32_t get_cb_id() const { return cb_id_; }

    FORCE_INLINE void reserve_back(int32_t num_pages) { cb_reserve_back(cb_id_, num_pages); }
    FORCE_INLINE void push_back(int32_t num_pages) { cb_push_back(cb_id_, num_pages); }
    FORCE_INLINE void wait_front(int32_t num_pages) { cb_wait_front(cb_id_, num_pages); }
    FORCE_INLINE void pop_front(int32_t num_pages) { cb_pop_front(cb_id_, num_pages); }

#ifndef COMPILE_FOR_TRISC
    FORCE_INLINE uint32_t get_tile_size() const { return uint32_t(::get_tile_size(int32_t(cb_id_))); }
    FORCE_INLINE uint32_t get_tile_hw() const { return ::get_tile_hw(int32_t(cb_id_)); }
    FORCE_INLINE DataFormat get_dataformat() const { return ::get_dataformat(int32_t(cb_id_)); }
    FORCE_INLINE bool pages_reservable_at_back(int32_t num_pages) const {
        return cb_pages_reservable_at_back(int32_t(cb_id_), num_pages);
    }
    FORCE_INLINE bool pages_available_at_front(int32_t num_pages) const {
        return cb_pages_available_at_front(int32_t(cb_id_), num_pages);
    }
#endif
    FORCE_INLINE uint32_t get_write_ptr() const { return get_local_cb_interface(cb_id_).fifo_wr_ptr; }
    FORCE_INLINE uint32_t get_read_ptr() const { return get_local_cb_interface(cb_id_).fifo_rd_ptr; }

  private:
    uint32_t cb_id_;
};

#ifndef COMPILE_FOR_TRISC

// Read from its front, written to at its back.
template <>
struct noc_traits_t<CircularBuffer> {
    struct src_args_type {
        uint32_t offset_bytes{};
    };
    using dst_args_type = src_args_type;
    struct dst_args_mcast_type {
        uint32_t noc_x_start{};
        uint32_t noc_y_start{};
        uint32_t noc_x_end{};
        uint32_t noc_y_end{};
        uint32_t offset_bytes{};
    };
    template <Noc::AddressType address_type>
    static FORCE_INLINE uint32_t src_addr(const CircularBuffer& cb, const Noc&, const src_args_type& args) {
        static_assert(address_type == Noc::AddressType::LOCAL_L1, "a circular buffer is local memory");
        return cb.get_read_ptr() + args.offset_bytes;
    }
    template <Noc::AddressType address_type>
    static FORCE_INLINE uint32_t dst_addr(const CircularBuffer& cb, const Noc&, const dst_args_type& args) {
        static_assert(address_type == Noc::AddressType::LOCAL_L1, "a circular buffer is local memory");
        return cb.get_write_ptr() + args.offset_bytes;
    }
    template <Noc::AddressType address_type>
    static FORCE_INLINE uint64_t dst_addr_mcast(const CircularBuffer& cb, const Noc& noc,
                                                const dst_args_mcast_type& a) {
        return ::get_noc_multicast_addr(a.noc_x_start, a.noc_y_start, a.noc_x_end, a.noc_y_end,
                                        cb.get_write_ptr() + a.offset_bytes, noc.get_noc_id());
    }
};

#endif
