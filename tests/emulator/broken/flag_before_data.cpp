// expect: missing-write-barrier (1,0) RISCV_1
// The flag may overtake the data: the write is neither flushed nor waited for.
#include "program.h"

void kernel_main() {
#if defined(READER)
    cb_reserve_back(1, 1);
    if (first_core()) {
        read_tile(0, 0);
        noc_async_write(get_read_ptr(0), there(get_write_ptr(1)), get_tile_size(0));
        noc_semaphore_inc(there(get_semaphore(0)), 1);
        noc_async_write_barrier();
        noc_async_atomic_barrier();
    } else {
        noc_semaphore_wait(Word(get_semaphore(0)), 1);
        if (Word(get_write_ptr(1))[0] == 0) read_tile(0, 0);  // FAULT
    }
#endif
}
