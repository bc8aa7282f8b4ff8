// A feeder: its heads of qkv, its share of what follows the attention.
//
// Args   those of products.h
#include "products.h"

void kernel_main() {
    compute_kernel_hw_startup<SrcOrder::Reverse>(qkv::CB_X, qkv::CB_W, qkv::CB_Z);
    qkv::project(0);
    finish();
}
