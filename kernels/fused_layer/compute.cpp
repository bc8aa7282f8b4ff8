// A worker: its heads of qkv, its rows of the attention, its share of what follows.
//
// Args           those of products.h
// Runtime args   then units of the attention (1 or 0), tile rows of the output that this core owns
#include "products.h"
#include "../attention/compute.h"

ALWI void attend() {
    constexpr uint32_t R = get_compile_time_arg_val(A), D = get_compile_time_arg_val(A + 1);
    constexpr uint32_t B = get_compile_time_arg_val(A + 2), W = get_compile_time_arg_val(A + 3);
    constexpr uint32_t r = get_compile_time_arg_val(A + 4), c = get_compile_time_arg_val(A + 5);
    constexpr uint16_t scale = get_compile_time_arg_val(A + 6);
    const uint32_t units = get_arg_val<uint32_t>(ATTENTION_ARG), owned = get_arg_val<uint32_t>(ATTENTION_ARG + 1);
    attention::attend_units<R, D, B, W, r, c, scale, false>(units, owned);
}

// Inlined into the loop it would be larger.
[[gnu::noinline]] void compute_layer() {
    project();
    attend();
    finish();
}

void kernel_main() { compute_layers(compute_layer); }
