// Compile-time and runtime args   those of compute.h
#include "compute.h"

void kernel_main() {
    compute_kernel_hw_startup(qkv::CB_X, qkv::CB_W, qkv::CB_Z);
    qkv::project(0);
}
