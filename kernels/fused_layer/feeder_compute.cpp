// A feeder: its heads of qkv, its share of what follows the attention.
//
// Args   those of products.h
#include "products.h"

void kernel_main() {
    compute_layers([] {
        project();
        finish();
    });
}
