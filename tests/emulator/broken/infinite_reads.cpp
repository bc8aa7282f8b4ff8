// expect: memory-exhausted (0,0) RISCV_1
// Reads without end and without a barrier.
#include "program.h"

void kernel_main() {
#if defined(READER)
    cb_reserve_back(0, 4);
    for (;;) {
        for (uint32_t i = 0; i < kTiles; ++i)
            noc_async_read_page(i, input(), get_write_ptr(0) + i * get_tile_size(0));  // FAULT
    }
#elif defined(WRITER)

#elif defined(COMPUTE)

#endif
}
