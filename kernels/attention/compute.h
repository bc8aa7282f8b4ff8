// Attention of a worker's rows, then the merge of its share of the output.
#pragma once

#include "flash.h"
#include "merge.h"

namespace attention {

// `units` units, one after another, as CB_INFO says; owned: rows of the output that this core merges, 0 if none.
template <uint32_t R, uint32_t D, uint32_t B, uint32_t W, uint32_t r, uint32_t c, uint16_t scale, bool several>
ALWI void attend_units(uint32_t units, uint32_t owned) {
    if (units == 0) return;
    cb_wait_front(CB_ONES, 1);
    for (uint32_t unit = 0; unit < units; ++unit) {
        cb_wait_front(CB_INFO, 1);
        const uint32_t rows = read_tile_value(CB_INFO, 0, INFO_ROWS);
        const uint32_t active = read_tile_value(CB_INFO, 0, INFO_ACTIVE);
        const uint32_t partial = read_tile_value(CB_INFO, 0, INFO_PARTIAL);
        pop_front(CB_INFO, 1);
        const auto tops = [&] {
            if (owned) merge_tops<W, r, scale>(owned, active);
        };
        if (rows) {
            attend<R, D, B, scale, several>(rows, partial, tops);
        } else {
            tops();
            cb_wait_front(CB_Q, R * D);
        }
        pop_front(CB_Q, R * D);
        if (owned) merge_sums<W, r, c>(owned, active);
    }
    pop_front(CB_ONES, 1);
}

}  // namespace attention
