// expect: deadlock (0,0) RISCV_1
// Each core waits for an increment that none makes.
#include "program.h"

void kernel_main() {
#if defined(READER)
    read_tiles(0);
    noc_semaphore_wait(Word(get_semaphore(0)), 1);  // FAULT
#elif defined(WRITER)
    write_tiles(0);
#endif
}
