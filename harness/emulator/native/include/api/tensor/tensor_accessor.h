// TensorAccessor: from the page of a tensor to its NoC address. The machine checks the page and its size.
#pragma once

#include "api/tensor/tensor_accessor_args.h"
#include "lb/kernel.h"

namespace tensor_accessor {

template <bool Dram>
struct Interleaved {
    static constexpr bool is_dram = Dram;
};

}  // namespace tensor_accessor

template <typename DSpecT>
struct TensorAccessor {
    using DSpec = DSpecT;
    static constexpr bool is_dram = DSpec::is_dram;

    template <size_t CTA_OFFSET, size_t CRTA_OFFSET>
    FORCE_INLINE TensorAccessor(const TensorAccessorArgs<CTA_OFFSET, CRTA_OFFSET>& args, size_t bank_base_address)
        : base_(uint32_t(bank_base_address)), page_bytes_(args.get_aligned_page_size()) {}
    template <size_t CTA_OFFSET, size_t CRTA_OFFSET>
    FORCE_INLINE TensorAccessor(const TensorAccessorArgs<CTA_OFFSET, CRTA_OFFSET>&, size_t bank_base_address,
                                uint32_t page_size)
        : base_(uint32_t(bank_base_address)), page_bytes_(page_size) {}

    FORCE_INLINE uint64_t get_noc_addr(uint32_t page_id, uint32_t offset = 0, uint8_t noc = NOC_INDEX) const {
        return lb_page_address(is_dram, base_, page_bytes_, page_id, offset, noc);
    }
    FORCE_INLINE uint32_t get_bank_base_address() const { return base_; }
    FORCE_INLINE uint32_t get_aligned_page_size() const { return page_bytes_; }

  private:
    uint32_t base_, page_bytes_;
};

// The older address generators.
template <bool DRAM>
struct InterleavedAddrGen {
    static constexpr bool is_dram = DRAM;
    uint32_t bank_base_address;
    const uint32_t page_size;

    FORCE_INLINE uint64_t get_noc_addr(uint32_t id, uint32_t offset = 0, uint8_t noc = NOC_INDEX) const {
        return lb_page_address(DRAM, bank_base_address, page_size, id, offset, noc);
    }
    FORCE_INLINE uint32_t get_aligned_page_size() const { return page_size; }
};

template <bool DRAM, uint32_t tile_hw = 1024>
struct InterleavedAddrGenFast {
    static constexpr bool is_dram = DRAM;
    uint32_t bank_base_address;
    uint32_t page_size;
    DataFormat data_format;

    FORCE_INLINE uint64_t get_noc_addr(uint32_t id, uint32_t offset = 0, uint8_t noc = NOC_INDEX) const {
        return lb_page_address(DRAM, bank_base_address, page_size, id, offset, noc);
    }
    FORCE_INLINE uint32_t get_aligned_page_size() const { return page_size; }
};

template <size_t CTA_OFFSET, size_t CRTA_OFFSET, class... Rest>
TensorAccessor(const TensorAccessorArgs<CTA_OFFSET, CRTA_OFFSET>&, Rest...)
    -> TensorAccessor<tensor_accessor::Interleaved<TensorAccessorArgs<CTA_OFFSET, CRTA_OFFSET>::is_dram>>;
