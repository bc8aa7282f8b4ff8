// On a worker: waits for the input, brings own columns of silu(h w1) * (h w3) to the group, sends partial results to
// their owners, writes owned columns. On the leader: the second half of the input, to all cores over NoC 1.
//
// Compile-time args   rows, hidden, groups, parts; grid's last and first core in NoC coordinates, its size; accessor
// Common args         addresses of input, residual, output
// Runtime args        role; of a worker those of split_linear.h
#include "../shared/multicast.h"
#include "../shared/split_linear.h"
#include "cbs.h"
#include "role.h"

void kernel_main() {
    constexpr uint32_t rows = get_compile_time_arg_val(0), hidden = get_compile_time_arg_val(1), n = rows * hidden;
    constexpr uint32_t groups = get_compile_time_arg_val(2), parts = get_compile_time_arg_val(3);
    constexpr auto args = TensorAccessorArgs<9>();
    const uint32_t role = get_arg_val<uint32_t>(0);
    if (role == LEADER) {
        const Everyone everyone{get_compile_time_arg_val(4), get_compile_time_arg_val(5), get_compile_time_arg_val(6),
                                get_compile_time_arg_val(7), get_compile_time_arg_val(8) - 1};
        const auto h = TensorAccessor(args, get_common_arg_val<uint32_t>(0), get_tile_size(CB_H));
        read_and_multicast(h, n / 2, n - n / 2, get_write_ptr(CB_H) + n / 2 * get_tile_size(CB_H), get_tile_size(CB_H),
                           get_semaphore(ARRIVED[1]), everyone);
    }
    if (role != WORKER) return;
    const Split split(1);
    cb_reserve_back(CB_H, n);
    for (const uint32_t id : ARRIVED) noc_semaphore_wait(words_at(get_semaphore(id)), 1);
    cb_push_back(CB_H, n);
    const auto x = TensorAccessor(args, get_common_arg_val<uint32_t>(1), get_tile_size(CB_X));
    const auto out = TensorAccessor(args, get_common_arg_val<uint32_t>(2), get_tile_size(CB_OUT));
    start_reading_columns<rows>(x, hidden, split.get(FIRST_OWNED), split.get(OWNED), CB_X);
    noc_async_read_barrier();
    cb_push_back(CB_X, split.get(OWNED) * rows);
    gather<rows>(split);
    scatter<rows, groups, parts>(split);
    write_owned<rows>(split, out, hidden);
}
