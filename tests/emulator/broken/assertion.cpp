// expect: assertion (0,0) RISCV_1
// The kernel says itself what must hold.
#include "program.h"

void kernel_main() {
#if defined(READER)
    ASSERT(get_tile_size(0) == 1088);  // FAULT
#endif
}
