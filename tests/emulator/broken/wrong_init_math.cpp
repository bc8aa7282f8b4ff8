// expect: wrong-init (0,0) math
// Unpack is the same for both, math is still initialised for a product.
#include "program.h"

void kernel_main() {
#if defined(READER)
    read_tiles(0);
#elif defined(COMPUTE)
    compute_kernel_hw_startup(0, 0, 2);
    mul_init(0, 0);
    UNPACK((lb_unpack_init(lb::binary_config(EltwiseBinaryType::ELWADD), lb::Block{})));
    cb_wait_front(0, 2);
    tile_regs_acquire();
    add_tiles(0, 0, 0, 1, 0);  // FAULT
    tile_regs_commit();
#endif
}
