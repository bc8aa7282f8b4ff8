// expect: semaphore-race (0,0) RISCV_1
// Two values are multicast to one flag, back to back: the other core may never see the first.
#include "program.h"

void kernel_main() {
#if defined(READER)
    if (first_core()) {
        const uint64_t other = get_noc_multicast_addr(my_x[0], my_y[0], get_arg_val<uint32_t>(0),
                                                      get_arg_val<uint32_t>(1), get_semaphore(0));
        for (uint32_t value = 1; value <= 2; ++value) {
            noc_semaphore_set(Word(get_semaphore(0)), value);
            noc_semaphore_set_multicast(get_semaphore(0), other, 1);  // FAULT
            noc_async_writes_flushed();
        }
        noc_async_write_barrier();
    } else {
        noc_semaphore_wait(Word(get_semaphore(0)), 1);
        noc_semaphore_wait(Word(get_semaphore(0)), 2);
    }
#endif
}
