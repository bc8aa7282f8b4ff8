// expect: wrong-init (0,0) math
// The SFPU holds the constants of the exponential.
#include "program.h"

void kernel_main() {
#if defined(READER)
    read_tiles(0);
#elif defined(COMPUTE)
    compute_kernel_hw_startup(0, 2);
    copy_init(0);
    exp_tile_init();
    cb_wait_front(0, 1);
    tile_regs_acquire();
    copy_tile(0, 0, 0);
    recip_tile(0);  // FAULT
    tile_regs_commit();
#endif
}
