// expect: mutable-global
// All cores would share the counter.
#include "program.h"

uint32_t calls = 0;  // FAULT

void kernel_main() { ++calls; }
