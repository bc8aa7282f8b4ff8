// expect: missing-read-barrier (0,0) RISCV_1
// A value is used while the read that brings it is in flight.
#include "program.h"

void kernel_main() {
#if defined(READER)
    cb_reserve_back(0, 1);
    noc_async_read_page(first_tile(), input(), get_write_ptr(0));
    if (Word(get_write_ptr(0))[0] == 0) read_tiles(0);  // FAULT
    noc_async_read_barrier();
#endif
}
