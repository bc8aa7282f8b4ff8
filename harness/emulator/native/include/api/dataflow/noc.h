// The object interface of data movement: a Noc moves bytes between things that noc_traits_t can address. Everything
// ends in the functions of dataflow_api.h.
#pragma once

#include <type_traits>

#include "api/dataflow/dataflow_api.h"

template <typename T>
struct noc_traits_t {
    static_assert(sizeof(T) == 0, "the Noc cannot address this type");
};

enum class NocOptions : uint32_t {
    DEFAULT = 0,
    TXN_ID = 1u << 0,
    POSTED = 1u << 1,
    CUSTOM_VC = 1u << 2,
    MCAST_INCL_SRC = 1u << 3,
    INLINE_L1 = 1u << 4,
};

constexpr NocOptions operator|(NocOptions a, NocOptions b) { return NocOptions(uint32_t(a) | uint32_t(b)); }
constexpr bool has_flag(NocOptions options, NocOptions flag) { return (uint32_t(options) & uint32_t(flag)) != 0; }

struct NocOptVals {
    uint32_t vc = NOC_UNICAST_WRITE_VC;
    uint32_t trid = 0;
};

class Noc {
  public:
    enum class AddressType { NOC, LOCAL_L1 };

    template <typename T>
    using src_args_t = typename noc_traits_t<T>::src_args_type;
    template <typename T>
    using dst_args_t = typename noc_traits_t<T>::dst_args_type;
    template <typename T>
    using dst_args_mcast_t = typename noc_traits_t<T>::dst_args_mcast_type;

    FORCE_INLINE Noc() : noc_id_(noc_index) {}
    FORCE_INLINE explicit Noc(uint8_t noc_id) : noc_id_(noc_id) {}
    FORCE_INLINE uint8_t get_noc_id() const { return noc_id_; }

    template <NocOptions opts = NocOptions::DEFAULT, uint32_t max_page_size = NOC_MAX_BURST_SIZE + 1,
              bool enable_noc_tracing = true, typename Src, typename Dst>
    FORCE_INLINE void async_read(const Src& src, const Dst& dst, uint32_t size_bytes, const src_args_t<Src>& src_args,
                                 const dst_args_t<Dst>& dst_args, const NocOptVals& values = {}) const {
        if constexpr (has_flag(opts, NocOptions::TXN_ID)) noc_async_read_set_trid(values.trid, noc_id_);
        noc_async_read(noc_traits_t<Src>::template src_addr<AddressType::NOC>(src, *this, src_args),
                       uint32_t(noc_traits_t<Dst>::template dst_addr<AddressType::LOCAL_L1>(dst, *this, dst_args)),
                       size_bytes, noc_id_);
    }

    template <NocOptions opts = NocOptions::DEFAULT, uint32_t max_page_size = NOC_MAX_BURST_SIZE + 1,
              bool enable_noc_tracing = true, typename Src, typename Dst>
    FORCE_INLINE void async_write(const Src& src, const Dst& dst, uint32_t size_bytes, const src_args_t<Src>& src_args,
                                  const dst_args_t<Dst>& dst_args, const NocOptVals& values = {}) const {
        // A transaction id stays set; only those that ask for one use it.
        lb_set_trid(true, has_flag(opts, NocOptions::TXN_ID) ? values.trid : 0, noc_id_);
        noc_async_write<max_page_size, enable_noc_tracing, has_flag(opts, NocOptions::POSTED)>(
            uint32_t(noc_traits_t<Src>::template src_addr<AddressType::LOCAL_L1>(src, *this, src_args)),
            noc_traits_t<Dst>::template dst_addr<AddressType::NOC>(dst, *this, dst_args), size_bytes, noc_id_);
    }

    template <NocOptions opts = NocOptions::DEFAULT, uint32_t max_page_size = NOC_MAX_BURST_SIZE + 1,
              bool enable_noc_tracing = true, typename Src, typename Dst>
    FORCE_INLINE void async_write_multicast(const Src& src, const Dst& dst, uint32_t size_bytes, uint32_t num_dsts,
                                            const src_args_t<Src>& src_args, const dst_args_mcast_t<Dst>& dst_args,
                                            bool linked = false) const {
        const auto from = uint32_t(noc_traits_t<Src>::template src_addr<AddressType::LOCAL_L1>(src, *this, src_args));
        const auto to = noc_traits_t<Dst>::template dst_addr_mcast<AddressType::NOC>(dst, *this, dst_args);
        constexpr bool loopback = has_flag(opts, NocOptions::MCAST_INCL_SRC);
        lb_write_multicast(from, to, size_bytes, num_dsts, loopback ? lb::Cast::MulticastLoopback : lb::Cast::Multicast,
                           linked, noc_id_);
    }

    template <NocOptions opts = NocOptions::DEFAULT, typename Dst>
    FORCE_INLINE void inline_dw_write(const Dst& dst, uint32_t val, const dst_args_t<Dst>& dst_args, uint8_t be = 0xF,
                                      const NocOptVals& = {}) const {
        lb_inline_write(noc_traits_t<Dst>::template dst_addr<AddressType::NOC>(dst, *this, dst_args), val, be, noc_id_);
    }

    template <NocOptions opts = NocOptions::DEFAULT>
    FORCE_INLINE void async_read_barrier(const NocOptVals& values = {}) const {
        if constexpr (has_flag(opts, NocOptions::TXN_ID)) {
            noc_async_read_barrier_with_trid(values.trid, noc_id_);
        } else {
            noc_async_read_barrier(noc_id_);
        }
    }
    template <NocOptions opts = NocOptions::DEFAULT>
    FORCE_INLINE void async_write_barrier(const NocOptVals& values = {}) const {
        if constexpr (has_flag(opts, NocOptions::TXN_ID)) {
            noc_async_write_barrier_with_trid(values.trid, noc_id_);
        } else {
            noc_async_write_barrier(noc_id_);
        }
    }
    template <NocOptions opts = NocOptions::DEFAULT>
    FORCE_INLINE void async_writes_flushed(const NocOptVals& values = {}) const {
        if constexpr (has_flag(opts, NocOptions::TXN_ID)) {
            noc_async_write_flushed_with_trid(values.trid, noc_id_);
        } else if constexpr (has_flag(opts, NocOptions::POSTED)) {
            noc_async_posted_writes_flushed(noc_id_);
        } else {
            noc_async_writes_flushed(noc_id_);
        }
    }
    FORCE_INLINE void async_atomic_barrier() const { noc_async_atomic_barrier(noc_id_); }
    FORCE_INLINE void async_full_barrier() const { noc_async_full_barrier(noc_id_); }

  private:
    uint8_t noc_id_;
};
