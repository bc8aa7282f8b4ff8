// Runtime arguments, coordinates, assertions.
#include "fault.h"

using namespace lb;

namespace {

uint32_t argument(const std::vector<uint32_t>& values, int index, const char* call) {
    if (index < 0 || size_t(index) >= values.size())
        fault("missing-argument", format("%s(%d), but the program gives %zu", call, index, values.size()));
    return values[size_t(index)];
}

uint32_t argument_address(const Thread& t, int index, uint32_t offset) {
    return uint32_t(kWindows + uintptr_t{t.core->index} * kWindowBytes) + kArgBase + uint32_t(t.role) * kArgBytes +
           offset + uint32_t(index) * 4;
}

}  // namespace

extern "C" {

uint32_t lb_arg(int index) { return argument(enter(__builtin_return_address(0)).args, index, "get_arg_val"); }

uint32_t lb_common_arg(int index) {
    return argument(enter(__builtin_return_address(0)).common_args, index, "get_common_arg_val");
}

uint32_t lb_arg_address(int index) { return argument_address(enter(__builtin_return_address(0)), index, 0); }

uint32_t lb_common_arg_address(int index) {
    return argument_address(enter(__builtin_return_address(0)), index, kArgBytes / 2);
}

uint8_t lb_noc_coordinate(bool y, uint8_t) {
    const Core& c = *machine.running->core;
    return y ? c.noc_y : c.noc_x;
}

uint8_t lb_logical_coordinate(bool y, bool relative) {
    const Core& c = *machine.running->core;
    return uint8_t(y ? c.y - (relative ? c.first_y : 0) : c.x - (relative ? c.first_x : 0));
}

void lb_assert_failed(const char* condition) {
    enter(__builtin_return_address(0));
    fault("assertion", format("ASSERT(%s) does not hold", condition));
}
}
