// expect: compile-error
// A part of the API that the emulator does not have.
#include "program.h"

void kernel_main() {
    experimental_gather(0, 1);  // FAULT
}
