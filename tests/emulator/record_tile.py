"""Records what the real ttnn computes for every case of tile_cases.py, on a simulator or a device.

    TT_METAL_SIMULATOR=~/sim/libttsim_bh.so TT_METAL_SLOW_DISPATCH_MODE=1 TT_METAL_DISABLE_SFPLOADMACRO=1 \\
        python -m tests.emulator.record_tile DIRECTORY [CASE ...]

writes DIRECTORY/CASE.npy, the packed bytes of the output tiles (uint8[tiles, bytes]), and with no cases named also
tests/emulator/data/tile_golden.npz: of every case the SHA-256 of those bytes and every 61st of them.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import numpy as np

from tests.emulator.tile_cases import CASES, SIZE, TILES, Case, Format

GOLDEN = Path(__file__).parent / "data" / "tile_golden.npz"
STRIDE = 61

READER = """
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    constexpr uint32_t n = get_compile_time_arg_val(0);
    constexpr auto a_args = TensorAccessorArgs<1>();
    constexpr auto b_args = TensorAccessorArgs<a_args.next_compile_time_args_offset()>();
    const auto a = TensorAccessor(a_args, get_arg_val<uint32_t>(0), get_local_cb_interface(0).fifo_page_size);
    const auto b = TensorAccessor(b_args, get_arg_val<uint32_t>(1), get_local_cb_interface(1).fifo_page_size);
    for (uint32_t i = 0; i < n; ++i) {
        cb_reserve_back(0, 1);
        cb_reserve_back(1, 1);
        noc_async_read_page(i, a, get_write_ptr(0));
        noc_async_read_page(i, b, get_write_ptr(1));
        noc_async_read_barrier();
        cb_push_back(0, 1);
        cb_push_back(1, 1);
    }
}
"""

WRITER = """
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    constexpr uint32_t n = get_compile_time_arg_val(0);
    constexpr auto o_args = TensorAccessorArgs<1>();
    const auto o = TensorAccessor(o_args, get_arg_val<uint32_t>(0), get_local_cb_interface(2).fifo_page_size);
    for (uint32_t i = 0; i < n; ++i) {
        cb_wait_front(2, 1);
        noc_async_write_page(i, o, get_read_ptr(2));
        noc_async_write_barrier();
        cb_pop_front(2, 1);
    }
}
"""

# The name keeps sources apart: the program cache of ttnn takes no notice of bfp8_pack_precise.
COMPUTE = """
// %(name)s
#include "api/compute/common.h"
#include "api/compute/bcast.h"
#include "api/compute/binary_max_min.h"
#include "api/compute/compute_kernel_api.h"
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_binary.h"
#include "api/compute/eltwise_binary_sfpu.h"
#include "api/compute/eltwise_unary/binop_with_scalar.h"
#include "api/compute/eltwise_unary/eltwise_unary.h"
#include "api/compute/eltwise_unary/exp.h"
#include "api/compute/eltwise_unary/fill.h"
#include "api/compute/eltwise_unary/negative.h"
#include "api/compute/eltwise_unary/recip.h"
#include "api/compute/eltwise_unary/relu.h"
#include "api/compute/eltwise_unary/rsqrt.h"
#include "api/compute/eltwise_unary/sqrt.h"
#include "api/compute/eltwise_unary/typecast.h"
#include "api/compute/matmul.h"
#include "api/compute/pack.h"
#include "api/compute/reconfig_data_format.h"
#include "api/compute/reduce.h"
#include "api/compute/tile_move_copy.h"
#include "api/compute/transpose.h"
constexpr uint32_t PER = %(per)d;
void kernel_main() {
    compute_kernel_hw_startup%(order)s(0, 1, 2);
    %(init)s
    for (uint32_t i = 0; i < %(tiles)d; ++i) {
        cb_wait_front(0, PER);
        cb_wait_front(1, PER);
        cb_reserve_back(2, 1);
        tile_regs_acquire();
        %(body)s
        tile_regs_commit();
        tile_regs_wait();
        %(pack)s
        tile_regs_release();
        cb_push_back(2, 1);
        cb_pop_front(0, PER);
        cb_pop_front(1, PER);
    }
}
"""


class Recorder:
    """An open device on which cases run one after another, on one core."""

    def __enter__(self) -> Recorder:
        import ttnn

        self.ttnn = ttnn
        self.device = ttnn.open_device(device_id=0)
        return self

    def __exit__(self, *_: object) -> None:
        self.ttnn.close_device(self.device)

    def _upload(self, tiles: np.ndarray):  # noqa: ANN202
        """Tiles as pages of a row-major tensor of words, so that no bit is touched on the way."""
        import torch

        words = torch.from_numpy(tiles.view(np.int32).reshape(1, 1, len(tiles), -1).copy())
        return self.ttnn.from_torch(
            words, dtype=self.ttnn.uint32, layout=self.ttnn.ROW_MAJOR_LAYOUT, device=self.device,
            memory_config=self.ttnn.DRAM_MEMORY_CONFIG,
        )  # fmt: skip

    def run(self, case: Case) -> np.ndarray:
        """The packed bytes of the case's output tiles, uint8[TILES, bytes]."""
        t = self.ttnn
        types = {
            Format.Float32: t.float32, Format.Float16_b: t.bfloat16, Format.Bfp8_b: t.bfloat8_b,
            Format.Bfp4_b: t.bfloat4_b, Format.Int32: t.int32, Format.UInt16: t.uint16, Format.UInt32: t.uint32,
        }  # fmt: skip
        first, second = case.inputs()
        a, b = self._upload(np.stack(first)), self._upload(np.stack(second))
        out = self._upload(np.zeros((TILES, SIZE[case.out]), np.uint8))
        cores = t.CoreRangeSet([t.CoreRange(t.CoreCoord(0, 0), t.CoreCoord(0, 0))])

        def args(*values: int):  # noqa: ANN202
            runtime = t.RuntimeArgs()
            runtime[0][0] = list(values)
            return runtime

        def accessors(*tensors) -> list[int]:  # noqa: ANN002
            return [x for tensor in tensors for x in t.TensorAccessorArgs(tensor).get_compile_time_args()]

        def buffer(index: int, fmt: Format, pages: int):  # noqa: ANN202
            size = SIZE[fmt]
            form = t.CBFormatDescriptor(buffer_index=index, data_format=types[fmt], page_size=size)
            return t.CBDescriptor(total_size=size * pages, core_ranges=cores, format_descriptors=[form])

        fidelity = [None, t.MathFidelity.LoFi, t.MathFidelity.HiFi2, t.MathFidelity.HiFi3, t.MathFidelity.HiFi4]
        compute = t.ComputeConfigDescriptor(
            math_fidelity=fidelity[case.fidelity], math_approx_mode=case.approx, fp32_dest_acc_en=case.wide,
            bfp8_pack_precise=case.precise,
        )  # fmt: skip
        if case.to_dest:
            modes = [t.UnpackToDestMode.Default] * 64  # one for each circular buffer
            modes[0] = modes[1] = t.UnpackToDestMode.UnpackToDestFp32
            compute.unpack_to_dest_mode = modes
        source = COMPUTE % {
            "name": case.name, "per": case.per, "tiles": TILES, "init": case.init, "body": case.body,
            "order": "<SrcOrder::Reverse>" if case.reverse else "",
            "pack": "pack_tile<true>(0, 2, 0);" if "l1_acc" in case.name else "pack_tile(0, 2);",
        }  # fmt: skip
        inline = t.KernelDescriptor.SourceType.SOURCE_CODE

        def kernel(text: str, compile_args: list[int], runtime, config):  # noqa: ANN001, ANN202
            return t.KernelDescriptor(
                kernel_source=text, source_type=inline, core_ranges=cores, compile_time_args=compile_args,
                runtime_args=runtime, config=config,
            )  # fmt: skip

        addresses = a.buffer_address(), b.buffer_address()
        program = t.ProgramDescriptor(
            kernels=[
                kernel(READER, [TILES * case.per, *accessors(a, b)], args(*addresses), t.ReaderConfigDescriptor()),
                kernel(WRITER, [TILES, *accessors(out)], args(out.buffer_address()), t.WriterConfigDescriptor()),
                kernel(source, [], args(), compute),
            ],
            semaphores=[],
            cbs=[buffer(0, case.in0, 2 * case.per), buffer(1, case.in1, 2 * case.per), buffer(2, case.out, 2)],
        )
        t.generic_op([a, b, out], program)
        words = t.to_torch(out).numpy().astype(np.int64).astype(np.uint32)
        return case.counted(np.ascontiguousarray(words.reshape(TILES, -1)).view(np.uint8))


def digest(tiles: np.ndarray) -> np.ndarray:
    return np.frombuffer(hashlib.sha256(tiles.tobytes()).digest(), np.uint8)


def save_golden(directory: Path) -> None:
    """Condenses a directory of recordings of all cases."""
    golden = {}
    for name in CASES:
        tiles = np.load(directory / f"{name}.npy")
        golden[name] = np.concatenate([digest(tiles), tiles.reshape(-1)[::STRIDE]])
    GOLDEN.parent.mkdir(exist_ok=True)
    np.savez_compressed(GOLDEN, **golden)


def main() -> None:
    directory, names = Path(sys.argv[1]), sys.argv[2:]
    directory.mkdir(parents=True, exist_ok=True)
    with Recorder() as recorder:
        for name in names or CASES:
            np.save(directory / f"{name}.npy", recorder.run(CASES[name]))
            print(name, flush=True)
    if not names:
        save_golden(directory)


if __name__ == "__main__":
    os.environ.setdefault("TT_LOGGER_LEVEL", "error")
    main()
