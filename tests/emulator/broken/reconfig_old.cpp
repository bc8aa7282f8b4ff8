// expect: data-format (0,0) pack
// The form with an old operand changes nothing where old and new agree; the packer is configured for another.
#include "program.h"

void kernel_main() {
#if defined(READER)
    read_tiles(0);
#elif defined(COMPUTE)
    compute_kernel_hw_startup(0, 2);
    copy_init(0);
    cb_wait_front(0, 1);
    cb_reserve_back(4, 1);
    tile_regs_acquire();
    copy_tile(0, 0, 0);
    tile_regs_commit();
    tile_regs_wait();
    pack_reconfig_data_format(4, 4);
    pack_tile(0, 4);  // FAULT
    tile_regs_release();
#endif
}
