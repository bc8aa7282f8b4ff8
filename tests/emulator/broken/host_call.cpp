// expect: compile-error
// There is no heap on the device.
#include "program.h"

void kernel_main() {
    int* numbers = new int[4];  // FAULT
    numbers[get_tile_size(0) % 4] = 1;
    delete[] numbers;
}
