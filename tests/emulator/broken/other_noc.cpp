// expect: other-noc (0,0) RISCV_1
// The reader has NoC 0; NoC 1 is the writer's.
#include "program.h"

void kernel_main() {
#if defined(READER)
    cb_reserve_back(0, 1);
    noc_async_read_page(first_tile(), input(), get_write_ptr(0), 0, 1);  // FAULT
    noc_async_read_barrier(1);
    cb_push_back(0, 1);
#endif
}
