// expect: missing-write-barrier (1,0) RISCV_1
// The other core reads from DRAM what is flushed, not arrived.
#include "program.h"

void kernel_main() {
#if defined(READER)
    if (first_core()) {
        read_tile(0, 0);
        noc_async_write_page(0, output(), get_read_ptr(0));
        noc_async_writes_flushed();
        noc_semaphore_inc(there(get_semaphore(0)), 1);
        noc_semaphore_wait(Word(get_semaphore(1)), 1);
        noc_async_write_barrier();
    } else {
        noc_semaphore_wait(Word(get_semaphore(0)), 1);
        cb_reserve_back(0, 1);
        noc_async_read_page(0, output(), get_write_ptr(0));  // FAULT
        noc_async_read_barrier();
    }
    noc_async_atomic_barrier();
#endif
}
