// expect: deadlock (0,0) RISCV_1
// The wait is for exactly 1, the other core adds 2.
#include "program.h"

void kernel_main() {
#if defined(READER)
    read_tiles(0);
    noc_semaphore_inc(there(get_semaphore(0)), 2);
    noc_semaphore_wait(Word(get_semaphore(0)), 1);  // FAULT
    noc_async_atomic_barrier();
#elif defined(WRITER)
    write_tiles(0);
#endif
}
