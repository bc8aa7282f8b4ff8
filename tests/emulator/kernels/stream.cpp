// Reads n blocks of 16 KB of a DRAM tensor, `depth` in flight, each with a transaction id: of bank `bank` alone, or,
// where that is 8, of all in turn. Compile-time arguments: n, depth. Runtime: address, bank.
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    constexpr uint32_t n = get_compile_time_arg_val(0), depth = get_compile_time_arg_val(1), bytes = 16384, banks = 8;
    const uint32_t address = get_arg_val<uint32_t>(0), only = get_arg_val<uint32_t>(1);
    cb_reserve_back(0, depth * bytes / get_tile_size(0));
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t slot = i % depth, bank = only == banks ? i % banks : only;
        const uint32_t offset = (only == banks ? i / banks : i) * bytes;
        if (i >= depth) noc_async_read_barrier_with_trid(slot + 1);
        noc_async_read_set_trid(slot + 1);
        noc_async_read(get_noc_addr_from_bank_id<true>(bank, address + offset), get_write_ptr(0) + slot * bytes, bytes);
    }
    noc_async_read_barrier();
}
