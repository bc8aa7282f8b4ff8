// Pages of a tensor as ends of a transfer.
#pragma once

#include "api/dataflow/noc.h"
#include "api/tensor/tensor_accessor.h"

template <typename DSpecT>
struct noc_traits_t<TensorAccessor<DSpecT>> {
    struct src_args_type {
        uint32_t page_id{};
        uint32_t offset_bytes = 0;
    };
    using dst_args_type = src_args_type;

    template <Noc::AddressType address_type>
    static FORCE_INLINE uint64_t src_addr(const TensorAccessor<DSpecT>& tensor, const Noc& noc,
                                          const src_args_type& args) {
        static_assert(address_type == Noc::AddressType::NOC, "a tensor is no local memory");
        return tensor.get_noc_addr(args.page_id, args.offset_bytes, noc.get_noc_id());
    }
    template <Noc::AddressType address_type>
    static FORCE_INLINE uint64_t dst_addr(const TensorAccessor<DSpecT>& tensor, const Noc& noc,
                                          const dst_args_type& args) {
        return src_addr<address_type>(tensor, noc, args);
    }
};
