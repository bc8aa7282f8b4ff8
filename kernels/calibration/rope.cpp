// Four tiles: cb 4 = cb 0 * cb 1, cb 5 = cb 2 * cb 3, cb 6 = cb 4 + cb 5.
#include "api/compute/common.h"
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_binary.h"

template <class Tile>
void step(uint32_t a, uint32_t b, uint32_t out, Tile tile) {
    cb_wait_front(a, 1);
    cb_wait_front(b, 1);
    cb_reserve_back(out, 1);
    tile_regs_acquire();
    tile();
    tile_regs_commit();
    tile_regs_wait();
    pack_tile(0, out);
    tile_regs_release();
    cb_push_back(out, 1);
    cb_pop_front(a, 1);
    cb_pop_front(b, 1);
}

void kernel_main() {
    compute_kernel_hw_startup(0, 1, 4);
    for (uint32_t i = 0; i < 4; ++i) {
        mul_init(0, 1);
        step(0, 1, 4, [] { mul_tiles(0, 1, 0, 0, 0); });
        mul_init(2, 3);
        step(2, 3, 5, [] { mul_tiles(2, 3, 0, 0, 0); });
        add_init(4, 5);
        step(4, 5, 6, [] { add_tiles(4, 5, 0, 0, 0); });
    }
}
