// Each core reads a tile of its left neighbour's L1 with a transaction id, once the neighbour has filled it, and passes
// it on to the writer. Runs on RISCV_1. Compile-time arguments: the accessor. Runtime: address, tile, left (x, y),
// right (x, y).
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    constexpr auto args = TensorAccessorArgs<0>();
    const auto a = TensorAccessor(args, get_arg_val<uint32_t>(0), get_tile_size(1));
    const uint32_t full = get_semaphore(0), taken = get_semaphore(1);
    const uint32_t mine = get_write_ptr(1);
    cb_reserve_back(1, 1);
    noc_async_read_page(get_arg_val<uint32_t>(1), a, mine);
    noc_async_read_barrier();
    noc_semaphore_inc(get_noc_addr(get_arg_val<uint32_t>(4), get_arg_val<uint32_t>(5), full), 1);

    cb_reserve_back(0, 1);
    noc_semaphore_wait(reinterpret_cast<volatile tt_l1_ptr uint32_t*>(full), 1);
    noc_async_read_set_trid(3);
    noc_async_read(get_noc_addr(get_arg_val<uint32_t>(2), get_arg_val<uint32_t>(3), mine), get_write_ptr(0),
                   get_tile_size(1));
    noc_async_read_barrier_with_trid(3);
    noc_async_read_set_trid(0);
    cb_push_back(0, 1);
    noc_semaphore_inc(get_noc_addr(get_arg_val<uint32_t>(2), get_arg_val<uint32_t>(3), taken), 1);
    noc_semaphore_wait_min(reinterpret_cast<volatile tt_l1_ptr uint32_t*>(taken), 1);
    noc_async_atomic_barrier();
}
