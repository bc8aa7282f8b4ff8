// Writes a page of where the banks are: x + 64 y of each of 8 for NoC 0, then for NoC 1. Compile-time arguments: the
// accessor. Common: address.
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    constexpr auto args = TensorAccessorArgs<0>();
    const auto out = TensorAccessor(args, get_common_arg_val<uint32_t>(0), get_tile_size(0));
    auto* page = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_write_ptr(0));
    cb_reserve_back(0, 1);
    for (uint32_t i = 0; i < 1024; ++i)
        page[i] = i < 16 ? uint32_t(get_noc_addr_from_bank_id<true>(i % 8, 0, i / 8) >> 36) : 0;
    noc_async_write_page(0, out, get_write_ptr(0));
    noc_async_write_barrier();
}
