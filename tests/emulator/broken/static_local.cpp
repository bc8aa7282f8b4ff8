// expect: mutable-global
// All cores would share the counter.
#include "program.h"

void kernel_main() {
    static uint32_t calls = 0;  // FAULT
    ++calls;
}
