// Waits for a tile row of x1, which its owners send.
//
// Compile-time args   hidden
#include "../shared/dataflow.h"
#include "plan.h"

void kernel_main() {
    constexpr uint32_t hidden = get_compile_time_arg_val(0);
    cb_reserve_back(CB_ROW, hidden);
    noc_semaphore_wait(words_at(get_semaphore(FILLED)), hidden);
    cb_push_back(CB_ROW, hidden);
}
