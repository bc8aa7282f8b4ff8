// expect: compile-error
// There is no heap on the device.
#include "program.h"

void kernel_main() {
    int* numbers = new int[4];  // FAULT
    static_cast<volatile int*>(numbers)[0] = 1;
}
