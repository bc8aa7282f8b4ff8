// Circular buffers: counters shared by a core's threads, pointers kept by each thread.
#include "fault.h"
#include "machine.h"
#include "tensix.h"

namespace lb {

namespace {

Cb& checked_cb(Thread& t, uint32_t index, int32_t pages, const char* call) {
    if (index >= kMaxCbs || !t.core->cbs[index].exists)
        fault("cb-missing", format("%s of cb %u, which this core does not have", call, index));
    Cb& cb = t.core->cbs[index];
    if (pages < 0 || uint32_t(pages) > cb.pages)
        fault("cb-capacity", format("%s of %d pages, but cb %u holds %u", call, pages, index, cb.pages));
    return cb;
}

uint32_t advance(uint32_t index, const Cb& cb, uint32_t pointer, uint32_t pages, const char* call) {
    pointer += pages * cb.page;
    if (pointer > cb.base + cb.size)
        fault("cb-overrun", format("%s of %u pages runs past the end of cb %u: its %u pages are no multiple of what is "
                                   "pushed and popped, so a block would wrap in its middle",
                                   call, pages, index, cb.pages));
    return pointer == cb.base + cb.size ? cb.base : pointer;
}

// When the last of so many pages at the front was pushed, and the last of so many at the back popped.
uint64_t pages_at(const Cb& cb, int32_t pages) { return pages ? cb.pushed_at[(cb.acked + pages - 1) % cb.pages] : 0; }
uint64_t space_at(const Cb& cb, int32_t pages) {
    return pages ? cb.popped_at[(cb.received + pages - 1) % cb.pages] : 0;
}

}  // namespace
}  // namespace lb

using namespace lb;

extern "C" {

void lb_cb_reserve_back(uint32_t index, int32_t pages) {
    Thread& t = enter(__builtin_return_address(0));
    Cb& cb = checked_cb(t, index, pages, "cb_reserve_back");
    block(t, {Wait::CbSpace, index, uint32_t(pages)});
    t.acquire(cb.popped);
    t.clock += machine.chip.cb_call;
    wait_until(t, space_at(cb, pages), Stall::CbFull);
    CbView& v = t.cbs[index];
    if (v.reserved < uint32_t(pages)) v.reserved = uint32_t(pages);
}

void lb_cb_push_back(uint32_t index, int32_t pages) {
    Thread& t = enter(__builtin_return_address(0));
    Cb& cb = checked_cb(t, index, pages, "cb_push_back");
    CbView& v = t.cbs[index];
    if (uint32_t(pages) > v.reserved)
        fault("push-without-reserve", format("cb_push_back of %d pages of cb %u, but only %u are reserved by "
                                             "cb_reserve_back",
                                             pages, index, v.reserved));
    check_handed_over(t, index, v.wr, uint32_t(pages) * cb.page, true);
    v.reserved -= uint32_t(pages);
    v.wr = advance(index, cb, v.wr, uint32_t(pages), "cb_push_back");
    v.packed = 0;
    t.clock += machine.chip.cb_call;
    for (int32_t i = 0; i < pages; ++i) cb.pushed_at[cb.received++ % cb.pages] = t.clock;
    if (cb.received - cb.acked > cb.high_water) cb.high_water = cb.received - cb.acked;
    t.release(cb.pushed);
    wake(*t.core);
}

void lb_cb_wait_front(uint32_t index, int32_t pages) {
    Thread& t = enter(__builtin_return_address(0));
    Cb& cb = checked_cb(t, index, pages, "cb_wait_front");
    block(t, {Wait::CbPages, index, uint32_t(pages)});
    t.acquire(cb.pushed);
    t.clock += machine.chip.cb_call;
    wait_until(t, pages_at(cb, pages), Stall::CbEmpty);
    CbView& v = t.cbs[index];
    if (v.waited < uint32_t(pages)) v.waited = uint32_t(pages);
}

void lb_cb_pop_front(uint32_t index, int32_t pages) {
    Thread& t = enter(__builtin_return_address(0));
    Cb& cb = checked_cb(t, index, pages, "cb_pop_front");
    CbView& v = t.cbs[index];
    if (uint32_t(pages) > v.waited)
        fault("pop-without-wait", format("cb_pop_front of %d pages of cb %u, but only %u were waited for by "
                                         "cb_wait_front",
                                         pages, index, v.waited));
    check_handed_over(t, index, v.rd, uint32_t(pages) * cb.page, false);
    v.waited -= uint32_t(pages);
    v.rd = advance(index, cb, v.rd, uint32_t(pages), "cb_pop_front");
    t.clock += machine.chip.cb_call;
    for (int32_t i = 0; i < pages; ++i) cb.popped_at[cb.acked++ % cb.pages] = t.clock;
    t.release(cb.popped);
    wake(*t.core);
}

bool lb_cb_poll(uint32_t index, int32_t pages, bool front) {
    Thread& t = *machine.running;
    t.pc = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
    const Cb& cb = checked_cb(t, index, pages, front ? "cb_pages_available_at_front" : "cb_pages_reservable_at_back");
    poll(t, uintptr_t(index));
    const bool there = satisfied(t, {front ? Wait::CbPages : Wait::CbSpace, index, uint32_t(pages)});
    if (there) wait_until(t, front ? pages_at(cb, pages) : space_at(cb, pages), front ? Stall::CbEmpty : Stall::CbFull);
    return there;
}

const LocalCBInterface* lb_cb_interface(uint32_t index) {
    Thread& t = *machine.running;
    t.pc = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
    const Cb& cb = checked_cb(t, index, 0, "access to the interface");
    CbView& v = t.cbs[index];
    // Compute threads count in units of 16 B, as the hardware's unpacker and packer do.
    const bool compute = t.role >= Role::Unpack;
    const int shift = compute ? 4 : 0;
    const uint32_t window = compute ? 0 : uint32_t(kWindows + uintptr_t{t.core->index} * kWindowBytes);
    v.interface = {cb.size >> shift,         (window + cb.base + cb.size) >> shift,
                   cb.page >> shift,         cb.pages,
                   (window + v.rd) >> shift, (window + v.wr) >> shift};
    return &v.interface;
}
}
