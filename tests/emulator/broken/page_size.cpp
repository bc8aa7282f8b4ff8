// expect: page-size (0,0) RISCV_1
// The accessor is told half the page size of the tensor.
#include "program.h"

void kernel_main() {
#if defined(READER)
    const auto a = TensorAccessor(TensorAccessorArgs<0>(), get_common_arg_val<uint32_t>(0), 1024);
    cb_reserve_back(0, 1);
    noc_async_read_page(0, a, get_write_ptr(0));  // FAULT
    noc_async_read_barrier();
    cb_push_back(0, 1);
#endif
}
