// expect: host-header
// There is no heap on the device.
#include <vector>  // FAULT
#include "program.h"

void kernel_main() {}
