// expect: semaphore-race (0,0) RISCV_1
// The flag is set, multicast and reset, which another thread here may be too slow to see.
#include "program.h"

void kernel_main() {
    const auto flag = Word(get_semaphore(0));
#if defined(READER)
    if (first_core()) {
        noc_semaphore_set(flag, 2);
        noc_semaphore_set_multicast(get_semaphore(0),
                                    get_noc_multicast_addr(my_x[0], my_y[0], get_arg_val<uint32_t>(0),
                                                           get_arg_val<uint32_t>(1), get_semaphore(0)),
                                    1);
        noc_async_writes_flushed();
        noc_semaphore_set(flag, 1);  // FAULT
        noc_async_write_barrier();
    } else {
        noc_semaphore_wait(flag, 2);
    }
#elif defined(WRITER)
    if (first_core()) noc_semaphore_wait(flag, 2);
#endif
}
