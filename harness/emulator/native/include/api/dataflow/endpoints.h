// Cores, rectangles of cores and banks as ends of a transfer.
#pragma once

#include "api/dataflow/noc.h"

struct UnicastEndpoint {};
struct MulticastEndpoint {};
enum class AllocatorBankType { L1, DRAM };
template <AllocatorBankType bank_type>
struct AllocatorBank {};

template <>
struct noc_traits_t<UnicastEndpoint> {
    struct src_args_type {
        uint32_t noc_x{};
        uint32_t noc_y{};
        uint32_t addr{};
    };
    using dst_args_type = src_args_type;

    template <Noc::AddressType address_type>
    static FORCE_INLINE auto src_addr(const UnicastEndpoint&, const Noc& noc, const src_args_type& args) {
        if constexpr (address_type == Noc::AddressType::LOCAL_L1) {
            return args.addr;
        } else {
            return ::get_noc_addr(args.noc_x, args.noc_y, args.addr, noc.get_noc_id());
        }
    }
    template <Noc::AddressType address_type>
    static FORCE_INLINE auto dst_addr(const UnicastEndpoint& to, const Noc& noc, const dst_args_type& args) {
        return src_addr<address_type>(to, noc, args);
    }
};

template <>
struct noc_traits_t<MulticastEndpoint> {
    struct dst_args_mcast_type {
        uint32_t noc_x_start{};
        uint32_t noc_y_start{};
        uint32_t noc_x_end{};
        uint32_t noc_y_end{};
        uint32_t addr{};
    };
    template <Noc::AddressType address_type>
    static FORCE_INLINE uint64_t dst_addr_mcast(const MulticastEndpoint&, const Noc& noc,
                                                const dst_args_mcast_type& a) {
        return ::get_noc_multicast_addr(a.noc_x_start, a.noc_y_start, a.noc_x_end, a.noc_y_end, a.addr,
                                        noc.get_noc_id());
    }
};

template <AllocatorBankType bank_type>
struct noc_traits_t<AllocatorBank<bank_type>> {
    struct src_args_type {
        uint32_t bank_id{};
        uint32_t addr{};
    };
    using dst_args_type = src_args_type;

    template <Noc::AddressType address_type>
    static FORCE_INLINE uint64_t src_addr(const AllocatorBank<bank_type>&, const Noc& noc, const src_args_type& args) {
        return ::get_noc_addr_from_bank_id<bank_type == AllocatorBankType::DRAM>(args.bank_id, args.addr,
                                                                                 noc.get_noc_id());
    }
    template <Noc::AddressType address_type>
    static FORCE_INLINE uint64_t dst_addr(const AllocatorBank<bank_type>& to, const Noc& noc,
                                          const dst_args_type& args) {
        return src_addr<address_type>(to, noc, args);
    }
};
