// RISCV_0 of a worker: its heads of qkv to the caches and to attention's workers; its parts of the attention to their
// owners, the output it owns to those who multiply it by wo; what follows to the layer's output.
//
// Args           those of moves.h
// Runtime args   of the attention: whether the core has a unit, worker, places of the unit's workers, tile rows of the
//                output that it owns, then those of send_output
#include "moves.h"
#include "../attention/share.h"

// Returns the index of the next runtime arg.
inline uint32_t attend(uint32_t arg, uint32_t) {
    using namespace attention;
    if (get_arg_val<uint32_t>(arg) == 0) return arg + 1;
    const uint32_t worker = get_arg_val<uint32_t>(arg + 1), coordinates = arg + 2;
    const ValidRows valid{take_valid(), get_common_arg_val<uint32_t>(qkv::CACHE_ROWS_ARG), rows};
    push_ones_tile();
    Exchange<R, D, W, r, c>{worker, coordinates, share_of(worker, W, valid.count())}.run();
    return send_output<c>(get_arg_val<uint32_t>(coordinates + W), coordinates + W + 1);
}

void kernel_main() { move_layers(attend); }
