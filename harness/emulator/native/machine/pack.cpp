// The pack thread: tiles from DEST to circular buffers.
#include "fault.h"
#include "tensix.h"

using namespace lb;

extern "C" {

void lb_startup_pack(uint32_t cb) {
    enter(__builtin_return_address(0));
    lb_reconfig_pack(cb);
}

void lb_reconfig_pack(uint32_t index) {
    Thread& t = *machine.running;
    if (index >= kMaxCbs || !t.core->cbs[index].exists)
        fault("cb-missing", format("a data format from cb %u, which this core does not have", index));
    t.clock += machine.chip.init;
    t.core->tensix->pack_format = t.core->cbs[index].format;
}

void lb_reconfig_pack_if_new(uint32_t old_cb, uint32_t new_cb) {
    const std::vector<Cb>& cbs = machine.running->core->cbs;
    if (old_cb < kMaxCbs && new_cb < kMaxCbs && cbs[old_cb].format == cbs[new_cb].format) return;
    lb_reconfig_pack(new_cb);
}

void lb_dest_wait() {
    Thread& t = enter(__builtin_return_address(0));
    Tensix& x = *t.core->tensix;
    if (x.pack_owns) fault("tile-registers", "tile_regs_wait() again without tile_regs_release()");
    block(t, {Wait::DestReady});
    t.acquire(x.dest_committed);
    t.clock += machine.chip.handover;
    wait_until(t, x.committed_at[x.pack_section], Stall::Registers);
    x.pack_owns = true;
}

void lb_dest_release() {
    Thread& t = enter(__builtin_return_address(0));
    Tensix& x = *t.core->tensix;
    if (!x.pack_owns) fault("tile-registers", "tile_regs_release() without tile_regs_wait()");
    for (uint32_t i = 0; i < x.capacity(); ++i) {
        tile::clear(x.dest[x.pack_section][i]);
        x.reduced[x.pack_section][i] = false;
    }
    x.pack_owns = false;
    t.clock += machine.chip.handover;
    x.released_at[x.pack_section] = t.clock;
    x.pack_section = (x.pack_section + 1) % x.sections();
    --x.committed;
    t.release(x.dest_released);
    wake(*t.core);
}

void lb_pack(uint32_t dst, uint32_t index, uint32_t tile, bool out_of_order) {
    Thread& t = enter(__builtin_return_address(0));
    Tensix& x = *t.core->tensix;
    if (!x.pack_owns) fault("tile-registers", "pack_tile without tile_regs_wait()");
    if (dst >= x.capacity())
        fault("tile-registers", format("pack_tile of DEST tile %u; there are %u", dst, x.capacity()));
    CbView& v = t.cbs[index % kMaxCbs];
    const uint32_t address = tile_address(t, index, out_of_order ? tile : v.packed++, true);
    const Cb& cb = t.core->cbs[index];
    if (x.pack_format != cb.format)
        fault("data-format", format("pack_tile to cb %u (%s), but the packer is configured for %s: "
                                    "compute_kernel_hw_startup or pack_reconfig_data_format for this buffer is missing",
                                    index, format_name(cb.format), format_name(x.pack_format)));
    const tile::DestTile& d = x.dest[x.pack_section][dst];
    if (!d.written)
        fault("uninitialised-read",
              format("pack_tile of DEST tile %u, which nothing has written since it was released", dst));
    if (x.mask && !x.reduced[x.pack_section][dst])
        fault("wrong-init",
              "pack_tile of a tile that is no reduction, with the packer still masked by reduce_init: "
              "reduce_uninit() is missing",
              {{"reduce_init", &t, x.mask_pc}});
    const auto out = tile::Format(cb.format);
    const auto via = tile::pack_format(out, x.width, x.precise);
    uint8_t* l1 = t.core->l1 + address;
    if (x.accumulate) {
        if (out != tile::Format::Float32 && out != tile::Format::Float16_b)
            fault("data-format", format("packing with L1 accumulation into cb %u (%s): only fp32 and bf16 accumulate",
                                        index, format_name(cb.format)));
        check_read(*t.core, address, cb.page, t, By::Packer, t.pc);
        check_write(*t.core, address, cb.page, t, By::Packer, t.pc);
        tile::pack_accumulate(l1, d, x.width, via, out, tile::PackMask(x.mask));
    } else {
        check_write(*t.core, address, cb.page, t, By::Packer, t.pc);
        tile::pack(l1, d, x.width, via, out, tile::PackMask(x.mask));
    }
    t.clock += machine.chip.tile_call + uint64_t(cb.page / machine.chip.pack);
    count_tile(t, std::string("pack ") + format_name(cb.format));
}

void lb_pack_mask(uint8_t mask) {
    Thread& t = enter(__builtin_return_address(0));
    t.core->tensix->mask = mask;
    t.core->tensix->mask_pc = t.pc;
}

void lb_pack_accumulate(bool on) { enter(__builtin_return_address(0)).core->tensix->accumulate = on; }
}
