// How a tensor lies in memory, told to a kernel by compile-time arguments: [flags, aligned page size]. Interleaved
// tensors only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "api/compile_time_args.h"

template <typename T>
T get_common_arg_val(int index);

namespace tensor_accessor {
constexpr size_t UNKNOWN = size_t(-1);
}

template <size_t CTA_OFFSET, size_t CRTA_OFFSET = tensor_accessor::UNKNOWN>
struct TensorAccessorArgs {
    static constexpr uint32_t flags = get_compile_time_arg_val(CTA_OFFSET);
    static constexpr bool is_sharded = flags & 1;
    static constexpr bool is_dram = flags & 2;
    static constexpr bool page_size_is_crta = flags & 128;
    static_assert(!is_sharded, "sharded tensors are not modelled by the emulator");
    static_assert((flags & ~130u) == 0, "not the first compile-time argument of a tensor accessor");

    static constexpr uint32_t AlignedPageSize = [] {
        if constexpr (page_size_is_crta) {
            return 0u;
        } else {
            return get_compile_time_arg_val(CTA_OFFSET + 1);
        }
    }();

    constexpr TensorAccessorArgs() = default;
    constexpr explicit TensorAccessorArgs(uint32_t crta_offset) : crta_offset_(crta_offset) {
        static_assert(CRTA_OFFSET == tensor_accessor::UNKNOWN, "the offset is a template argument already");
    }

    constexpr uint32_t crta_offset() const {
        if constexpr (CRTA_OFFSET != tensor_accessor::UNKNOWN) {
            return CRTA_OFFSET;
        } else {
            return crta_offset_;
        }
    }
    constexpr uint32_t get_aligned_page_size() const {
        if constexpr (page_size_is_crta) {
            return get_common_arg_val<uint32_t>(int(crta_offset()));
        } else {
            return AlignedPageSize;
        }
    }
    static constexpr uint32_t num_compile_time_args() { return page_size_is_crta ? 1 : 2; }
    static constexpr uint32_t next_compile_time_args_offset() { return CTA_OFFSET + num_compile_time_args(); }
    constexpr uint32_t num_common_runtime_args() const { return page_size_is_crta ? 1 : 0; }
    constexpr uint32_t next_common_runtime_args_offset() const { return crta_offset() + num_common_runtime_args(); }

  private:
    uint32_t crta_offset_ = 0;
};

namespace tensor_accessor::detail {

template <uint32_t Index, uint32_t Offset>
constexpr uint32_t args_offset() {
    if constexpr (Index == 0) {
        return Offset;
    } else {
        return TensorAccessorArgs<args_offset<Index - 1, Offset>()>::next_compile_time_args_offset();
    }
}

template <uint32_t Offset, uint32_t... Index>
constexpr auto args_tuple(std::integer_sequence<uint32_t, Index...>) {
    return std::make_tuple(TensorAccessorArgs<args_offset<Index, Offset>()>()...);
}

}  // namespace tensor_accessor::detail

template <uint32_t NUM_TENSORS, uint32_t CTA_OFFSET>
constexpr auto make_tensor_accessor_args_tuple() {
    return tensor_accessor::detail::args_tuple<CTA_OFFSET>(std::make_integer_sequence<uint32_t, NUM_TENSORS>());
}
