// expect: missing-write-barrier (1,0) RISCV_1
// The multicast flag may overtake the multicast data: nothing was flushed between them.
#include "program.h"

void kernel_main() {
#if defined(READER)
    cb_reserve_back(1, 1);
    if (first_core()) {
        read_tile(0, 0);
        const auto other = [](uint32_t address) {
            return get_noc_multicast_addr(my_x[0], my_y[0], get_arg_val<uint32_t>(0), get_arg_val<uint32_t>(1),
                                          address);
        };
        noc_async_write_multicast(get_read_ptr(0), other(get_write_ptr(1)), get_tile_size(0), 1);
        noc_semaphore_set(Word(get_semaphore(0)), 1);
        noc_semaphore_set_multicast(get_semaphore(0), other(get_semaphore(0)), 1);
        noc_async_write_barrier();
    } else {
        noc_semaphore_wait(Word(get_semaphore(0)), 1);
        if (Word(get_write_ptr(1))[0] == 0) read_tile(0, 0);  // FAULT
    }
#endif
}
