// expect: missing-write-flush (0,0) RISCV_1
// The flag is changed while its multicast may still read it.
#include "program.h"

void kernel_main() {
#if defined(READER)
    if (first_core()) {
        noc_semaphore_set(Word(get_semaphore(0)), 1);
        noc_semaphore_set_remote(get_semaphore(0), there(get_semaphore(1)));
        noc_semaphore_set(Word(get_semaphore(0)), 0);  // FAULT
        noc_async_write_barrier();
    }
#endif
}
