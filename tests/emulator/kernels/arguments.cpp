// Writes a page of every kind of argument and of where it runs: compile-time by position and by name, define, runtime
// by call and by address, common, own logical coordinates, a semaphore's initial value. Compile-time arguments: 11, the
// accessor; by name: "answer". Define: MARK. Common: address, 44. Runtime: 22, 33.
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    constexpr auto args = TensorAccessorArgs<1>();
    const auto out = TensorAccessor(args, get_common_arg_val<uint32_t>(0), get_tile_size(0));
    constexpr uint32_t answer = get_named_compile_time_arg_val("answer");
    const auto* runtime = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_arg_addr(0));
    auto* page = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_write_ptr(0));
    const uint32_t values[] = {
        get_compile_time_arg_val(0),
        answer,
        MARK,
        get_arg_val<uint32_t>(0),
        runtime[1],
        get_common_arg_val<uint32_t>(1),
        get_absolute_logical_x(),
        get_relative_logical_y(),
        *reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_semaphore(1)),
        get_local_cb_interface(0).fifo_num_pages,
        uint32_t(get_dataformat(0)),
    };
    cb_reserve_back(0, 1);
    for (uint32_t i = 0; i < 1024; ++i) page[i] = i < 11 ? values[i] : 0;
    noc_async_write_page(get_absolute_logical_x(), out, get_write_ptr(0));
    noc_async_write_barrier();
}
