// expect: data-format (0,0) unpack
// Nothing has configured the source registers.
#include "program.h"

void kernel_main() {
#if defined(READER)
    read_tiles(0);
#elif defined(COMPUTE)
    copy_init(0);
    cb_wait_front(0, 1);
    UNPACK((copy_tile(0, 0, 0)));  // FAULT
#endif
}
