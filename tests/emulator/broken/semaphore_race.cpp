// expect: semaphore-race (0,0) RISCV_1
// The reset comes after the announcement that invites the next increment, which it may wipe out.
#include "program.h"

void kernel_main() {
#if defined(READER)
    if (first_core()) {
        noc_semaphore_inc(there(get_semaphore(1)), 1);
        noc_async_atomic_barrier();
        for (uint32_t i = 0; i < kTiles; ++i) read_tile(0, i);
        noc_semaphore_set(Word(get_semaphore(0)), 0);  // FAULT
        noc_semaphore_wait(Word(get_semaphore(0)), 1);
    } else {
        noc_semaphore_wait(Word(get_semaphore(1)), 1);
        noc_semaphore_inc(there(get_semaphore(0)), 1);
        noc_async_atomic_barrier();
    }
#elif defined(WRITER)
    if (first_core()) write_tiles(0);
#endif
}
