// The data-movement API: circular buffers, transfers, semaphores. Semantics of the functions are tt-metal's; here each
// asks the machine, which checks it.
#pragma once

#if !defined(NOC_INDEX)
#error "api/dataflow/dataflow_api.h belongs to data-movement kernels; this is a compute kernel"
#endif

#include "api/tensor/tensor_accessor.h"
#include "lb/kernel.h"

constexpr uint8_t noc_index = NOC_INDEX;
constexpr uint32_t NOC_UNICAST_WRITE_VC = 1, NOC_MULTICAST_WRITE_VC = 4;
enum class InlineWriteDst : uint8_t { DEFAULT, L1, REG };

namespace lb {
template <bool Y>
struct OwnCoordinate {
    FORCE_INLINE uint8_t operator[](int noc) const { return lb_noc_coordinate(Y, uint8_t(noc)); }
};
}  // namespace lb

constexpr lb::OwnCoordinate<false> my_x;
constexpr lb::OwnCoordinate<true> my_y;

// Circular buffers.
FORCE_INLINE void cb_reserve_back(int32_t operand, int32_t num_pages) {
    lb_cb_reserve_back(uint32_t(operand), num_pages);
}
FORCE_INLINE void cb_push_back(const int32_t operand, const int32_t num_pages) {
    lb_cb_push_back(uint32_t(operand), num_pages);
}
FORCE_INLINE void cb_wait_front(int32_t operand, int32_t num_pages) { lb_cb_wait_front(uint32_t(operand), num_pages); }
FORCE_INLINE void cb_pop_front(int32_t operand, int32_t num_pages) { lb_cb_pop_front(uint32_t(operand), num_pages); }
FORCE_INLINE bool cb_pages_reservable_at_back(int32_t operand, int32_t num_pages) {
    return lb_cb_poll(uint32_t(operand), num_pages, false);
}
FORCE_INLINE bool cb_pages_available_at_front(int32_t operand, int32_t num_pages) {
    return lb_cb_poll(uint32_t(operand), num_pages, true);
}
FORCE_INLINE uint32_t get_write_ptr(uint32_t operand) { return get_local_cb_interface(operand).fifo_wr_ptr; }
FORCE_INLINE uint32_t get_read_ptr(uint32_t operand) { return get_local_cb_interface(operand).fifo_rd_ptr; }

// Addresses.
FORCE_INLINE uint64_t get_noc_addr(uint32_t noc_x, uint32_t noc_y, uint32_t addr, uint8_t = noc_index) {
    return (uint64_t(noc_y) << 42) | (uint64_t(noc_x) << 36) | addr;
}
FORCE_INLINE uint64_t get_noc_addr(uint32_t addr, uint8_t noc = noc_index) {
    return get_noc_addr(my_x[noc], my_y[noc], addr, noc);
}
template <typename AddrGen>
FORCE_INLINE auto get_noc_addr(uint32_t id, const AddrGen& accessor, uint32_t offset = 0, uint8_t noc = noc_index)
    -> decltype(accessor.get_noc_addr(id)) {
    return accessor.get_noc_addr(id, offset, noc);
}
FORCE_INLINE uint64_t get_noc_multicast_addr(uint32_t noc_x_start, uint32_t noc_y_start, uint32_t noc_x_end,
                                             uint32_t noc_y_end, uint32_t addr, uint8_t = noc_index) {
    return (uint64_t(noc_x_start) << 48) | (uint64_t(noc_y_start) << 54) | (uint64_t(noc_x_end) << 36) |
           (uint64_t(noc_y_end) << 42) | addr;
}
template <bool DRAM>
FORCE_INLINE uint64_t get_noc_addr_from_bank_id(uint32_t bank_id, uint32_t bank_address_offset,
                                                uint8_t noc = noc_index) {
    return lb_bank_address(DRAM, bank_id, bank_address_offset, noc);
}

// Reads.
template <uint32_t max_page_size = NOC_MAX_BURST_SIZE + 1, bool enable_noc_tracing = true>
FORCE_INLINE void noc_async_read(uint64_t src_noc_addr, uint32_t dst_local_l1_addr, uint32_t size,
                                 uint8_t noc = noc_index, uint32_t = NOC_UNICAST_WRITE_VC) {
    lb_read(src_noc_addr, dst_local_l1_addr, size, noc);
}
template <bool enable_noc_tracing = true>
FORCE_INLINE void noc_async_read_one_packet(uint64_t src_noc_addr, uint32_t dst_local_l1_addr, uint32_t size,
                                            uint8_t noc = noc_index, uint32_t = NOC_UNICAST_WRITE_VC) {
    ASSERT(size <= NOC_MAX_BURST_SIZE);
    lb_read(src_noc_addr, dst_local_l1_addr, size, noc);
}
template <bool use_vc = false>
FORCE_INLINE void noc_async_read_one_packet_set_state(uint64_t src_noc_addr, uint32_t size, const uint32_t = 0,
                                                      uint8_t noc = noc_index) {
    ASSERT(size <= NOC_MAX_BURST_SIZE);
    lb_read_set_state(src_noc_addr, size, noc);
}
template <bool inc_num_issued = true, bool use_vc = false>
FORCE_INLINE void noc_async_read_one_packet_with_state(uint32_t src_local_l1_addr, uint32_t dst_local_l1_addr,
                                                       const uint32_t = 0, uint8_t noc = noc_index) {
    static_assert(inc_num_issued, "reads that no barrier counts are not modelled by the emulator");
    lb_read_with_state(src_local_l1_addr, dst_local_l1_addr, 0, noc);
}
FORCE_INLINE void noc_async_read_set_state(uint64_t src_noc_addr, uint8_t noc = noc_index) {
    lb_read_set_state(src_noc_addr, 0, noc);
}
template <bool inc_num_issued = true>
FORCE_INLINE void noc_async_read_with_state(uint32_t src_local_l1_addr, uint32_t dst_local_l1_addr, uint32_t size,
                                            uint8_t noc = noc_index) {
    static_assert(inc_num_issued, "reads that no barrier counts are not modelled by the emulator");
    lb_read_with_state(src_local_l1_addr, dst_local_l1_addr, size, noc);
}
template <typename AddrGen, bool enable_noc_tracing = true>
FORCE_INLINE void noc_async_read_page(const uint32_t id, const AddrGen& accessor, uint32_t dst_local_l1_addr,
                                      uint32_t offset = 0, uint8_t noc = noc_index) {
    lb_read(accessor.get_noc_addr(id, offset, noc), dst_local_l1_addr, accessor.get_aligned_page_size(), noc);
}
template <typename AddrGen>
[[deprecated("Use noc_async_read_page instead.")]] FORCE_INLINE void noc_async_read_tile(const uint32_t id,
                                                                                         const AddrGen& accessor,
                                                                                         uint32_t dst_local_l1_addr,
                                                                                         uint32_t offset = 0,
                                                                                         uint8_t noc = noc_index) {
    noc_async_read_page(id, accessor, dst_local_l1_addr, offset, noc);
}

// Writes.
template <uint32_t max_page_size = NOC_MAX_BURST_SIZE + 1, bool enable_noc_tracing = true, bool posted = false>
FORCE_INLINE void noc_async_write(uint32_t src_local_l1_addr, uint64_t dst_noc_addr, uint32_t size,
                                  uint8_t noc = noc_index, uint32_t = NOC_UNICAST_WRITE_VC) {
    lb_write(src_local_l1_addr, dst_noc_addr, size, noc, posted);
}
template <bool enable_noc_tracing = true, bool posted = false>
FORCE_INLINE void noc_async_write_one_packet(uint32_t src_local_l1_addr, uint64_t dst_noc_addr, uint32_t size,
                                             uint8_t noc = noc_index, uint32_t = NOC_UNICAST_WRITE_VC) {
    ASSERT(size <= NOC_MAX_BURST_SIZE);
    lb_write(src_local_l1_addr, dst_noc_addr, size, noc, posted);
}
template <bool posted = false>
FORCE_INLINE void noc_async_write_one_packet_set_state(uint64_t dst_noc_addr, uint32_t size, uint8_t noc = noc_index,
                                                       uint8_t = NOC_UNICAST_WRITE_VC) {
    ASSERT(size <= NOC_MAX_BURST_SIZE);
    lb_write_set_state(dst_noc_addr, size, noc, posted);
}
template <bool posted = false>
FORCE_INLINE void noc_async_write_one_packet_with_state(uint32_t src_local_l1_addr, uint32_t dst_local_l1_addr,
                                                        uint8_t noc = noc_index) {
    lb_write_with_state(src_local_l1_addr, dst_local_l1_addr, 0, noc);
}
template <typename AddrGen, bool enable_noc_tracing = true, bool posted = false>
FORCE_INLINE void noc_async_write_page(const uint32_t id, const AddrGen& accessor, uint32_t src_local_l1_addr,
                                       uint32_t size = 0, uint32_t offset = 0, uint8_t noc = noc_index) {
    lb_write(src_local_l1_addr, accessor.get_noc_addr(id, offset, noc), size ? size : accessor.get_aligned_page_size(),
             noc, posted);
}
template <typename AddrGen>
[[deprecated("Use noc_async_write_page instead.")]] FORCE_INLINE void noc_async_write_tile(const uint32_t id,
                                                                                           const AddrGen& accessor,
                                                                                           uint32_t src_local_l1_addr,
                                                                                           uint8_t noc = noc_index) {
    noc_async_write_page(id, accessor, src_local_l1_addr, 0, 0, noc);
}
template <uint32_t max_page_size = NOC_MAX_BURST_SIZE + 1>
FORCE_INLINE void noc_async_write_multicast(uint32_t src_local_l1_addr, uint64_t dst_noc_addr_multicast, uint32_t size,
                                            uint32_t num_dests, bool linked = false, uint8_t noc = noc_index,
                                            uint8_t = NOC_MULTICAST_WRITE_VC) {
    lb_write_multicast(src_local_l1_addr, dst_noc_addr_multicast, size, num_dests, lb::Cast::Multicast, linked, noc);
}
template <bool enable_noc_tracing = true>
FORCE_INLINE void noc_async_write_multicast_one_packet(uint32_t src_local_l1_addr, uint64_t dst_noc_addr_multicast,
                                                       uint32_t size, uint32_t num_dests, bool linked = false,
                                                       uint8_t noc = noc_index) {
    ASSERT(size <= NOC_MAX_BURST_SIZE);
    lb_write_multicast(src_local_l1_addr, dst_noc_addr_multicast, size, num_dests, lb::Cast::Multicast, linked, noc);
}
FORCE_INLINE void noc_async_write_multicast_loopback_src(uint32_t src_local_l1_addr, uint64_t dst_noc_addr_multicast,
                                                         uint32_t size, uint32_t num_dests, bool linked = false,
                                                         uint8_t noc = noc_index) {
    lb_write_multicast(src_local_l1_addr, dst_noc_addr_multicast, size, num_dests, lb::Cast::MulticastLoopback, linked,
                       noc);
}
template <InlineWriteDst dst_type = InlineWriteDst::DEFAULT, bool posted = false, bool flush = true>
FORCE_INLINE void noc_inline_dw_write(uint64_t addr, uint32_t val, uint8_t be = 0xF, uint8_t noc = noc_index,
                                      uint8_t = NOC_UNICAST_WRITE_VC, uint32_t = 0) {
    static_assert(dst_type != InlineWriteDst::REG, "inline writes to registers are not modelled by the emulator");
    static_assert(flush, "inline writes without their flush are not modelled by the emulator");
    lb_inline_write(addr, val, be, noc);
}

// Transaction ids.
FORCE_INLINE void noc_async_read_set_trid(uint32_t trid = 0, uint8_t noc = noc_index) { lb_set_trid(false, trid, noc); }
FORCE_INLINE void noc_async_write_set_trid(uint32_t trid = 0, uint8_t noc = noc_index) { lb_set_trid(true, trid, noc); }
FORCE_INLINE void noc_async_read_barrier_with_trid(uint32_t trid, uint8_t noc = noc_index) {
    lb_read_barrier_trid(trid, noc);
}
FORCE_INLINE void noc_async_write_barrier_with_trid(uint32_t trid, uint8_t noc = noc_index) {
    lb_write_barrier_trid(trid, noc);
}
FORCE_INLINE void noc_async_write_flushed_with_trid(uint32_t trid, uint8_t noc = noc_index) {
    lb_writes_flushed_trid(trid, noc);
}
template <bool update_counter = true, bool posted = false>
FORCE_INLINE void noc_async_write_one_packet_with_trid(uint32_t src_local_l1_addr, uint64_t dst_noc_addr, uint32_t size,
                                                       uint32_t trid, uint8_t = 0, uint8_t noc = noc_index,
                                                       uint8_t = NOC_UNICAST_WRITE_VC) {
    ASSERT(size <= NOC_MAX_BURST_SIZE);
    lb_set_trid(true, trid, noc);
    lb_write(src_local_l1_addr, dst_noc_addr, size, noc, posted);
}

// Waiting for transfers.
FORCE_INLINE void noc_async_read_barrier(uint8_t noc = noc_index) { lb_read_barrier(noc); }
FORCE_INLINE void noc_async_write_barrier(uint8_t noc = noc_index) { lb_write_barrier(noc); }
FORCE_INLINE void noc_async_writes_flushed(uint8_t noc = noc_index) { lb_writes_flushed(noc, false); }
FORCE_INLINE void noc_async_posted_writes_flushed(uint8_t noc = noc_index) { lb_writes_flushed(noc, true); }
FORCE_INLINE void noc_async_atomic_barrier(uint8_t noc = noc_index) { lb_atomic_barrier(noc); }
FORCE_INLINE void noc_async_full_barrier(uint8_t noc = noc_index) {
    lb_read_barrier(noc);
    lb_write_barrier(noc);
    lb_writes_flushed(noc, true);
    lb_atomic_barrier(noc);
}
FORCE_INLINE void invalidate_l1_cache() {}

// Semaphores.
FORCE_INLINE uintptr_t get_semaphore(uint32_t semaphore_id) { return lb_semaphore_address(semaphore_id); }
FORCE_INLINE void noc_semaphore_set(volatile tt_l1_ptr uint32_t* sem_addr, uint32_t val) {
    lb_semaphore_set(sem_addr, val);
}
FORCE_INLINE void noc_semaphore_wait(volatile tt_l1_ptr uint32_t* sem_addr, uint32_t val) {
    lb_semaphore_wait(sem_addr, val, false);
}
FORCE_INLINE void noc_semaphore_wait_min(volatile tt_l1_ptr uint32_t* sem_addr, uint32_t val) {
    lb_semaphore_wait(sem_addr, val, true);
}
template <bool posted = false>
FORCE_INLINE void noc_semaphore_inc(uint64_t addr, uint32_t incr, uint8_t noc_id = noc_index,
                                    uint8_t = NOC_UNICAST_WRITE_VC) {
    lb_semaphore_inc(addr, incr, noc_id);
}
FORCE_INLINE void noc_semaphore_set_remote(uint32_t src_local_l1_addr, uint64_t dst_noc_addr, uint8_t noc = noc_index) {
    lb_semaphore_send(src_local_l1_addr, dst_noc_addr, 1, lb::Cast::Unicast, false, noc);
}
FORCE_INLINE void noc_semaphore_set_multicast(uint32_t src_local_l1_addr, uint64_t dst_noc_addr_multicast,
                                              uint32_t num_dests, bool linked = false, uint8_t noc = noc_index,
                                              uint8_t = NOC_MULTICAST_WRITE_VC) {
    lb_semaphore_send(src_local_l1_addr, dst_noc_addr_multicast, num_dests, lb::Cast::Multicast, linked, noc);
}
FORCE_INLINE void noc_semaphore_set_multicast_loopback_src(uint32_t src_local_l1_addr, uint64_t dst_noc_addr_multicast,
                                                           uint32_t num_dests, bool linked = false,
                                                           uint8_t noc = noc_index) {
    lb_semaphore_send(src_local_l1_addr, dst_noc_addr_multicast, num_dests, lb::Cast::MulticastLoopback, linked, noc);
}
