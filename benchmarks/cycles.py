"""Cycles of two programs by the cycle counter of whatever runs them: the emulator's virtual time, or a simulator's.

``python -m benchmarks.cycles [emulator|simulator] [SHAPE ...]`` runs a small reader, compute and writer, and
norm_residual for each shape. Each core's writer, which ends last, looks at the counter as its first and its last step.
Printed are the slowest core's cycles, and this machine's seconds of the second launch. Made to put the emulator beside
wolfpine (docs/emulator.md); which simulator it is, TT_METAL_SIMULATOR says.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import torch

from harness.calibration import twins
from harness.calibration.build import Builder
from harness.context import LayerContext
from harness.implementation import LayerEnv
from harness.shape import LayerShape, parse_shape
from harness.targets import Target, open_target
from layer_impls._program import accessor_args
from layer_impls.norm_residual import NormResidual, NormResidualOptions, norm_tables

CLOCK_CB, CLOCK_BYTES = 30, 64
WRITER = """
#include "api/dataflow/dataflow_api.h"
#define kernel_main writer_main
#include "{source}"
#undef kernel_main
void kernel_main() {{
    volatile tt_reg_ptr uint32_t* clock = reinterpret_cast<volatile tt_reg_ptr uint32_t*>(RISCV_DEBUG_REG_WALL_CLOCK_L);
    const uint32_t begin = clock[0];
    writer_main();
    const uint32_t end = clock[0];
    constexpr auto args = TensorAccessorArgs<{offset}>();
    const auto clocks = TensorAccessor(args, get_common_arg_val<uint32_t>({common}), {bytes});
    const uint32_t at = get_write_ptr({cb});
    reinterpret_cast<volatile tt_l1_ptr uint32_t*>(at)[0] = end - begin;
    noc_async_write_page(get_absolute_logical_y() * {columns} + get_absolute_logical_x(), clocks, at);
    noc_async_write_barrier();
}}
"""


def cycles(target: Target, tensors: list[Any], program: Any, writer: int) -> tuple[int, float]:
    """The slowest core's cycles, and the host's seconds, of the second launch. ``writer``: the kernel's index."""
    ttnn, grid = target.ttnn, target.device.compute_with_storage_grid_size()
    clocks = ttnn.from_torch(
        torch.zeros(1, 1, grid.x * grid.y, CLOCK_BYTES // 4, dtype=torch.int32),
        dtype=ttnn.uint32, layout=ttnn.ROW_MAJOR_LAYOUT, device=target.device, memory_config=ttnn.DRAM_MEMORY_CONFIG,
    )  # fmt: skip
    kernels = list(program.kernels)
    old = kernels[writer]
    compile_time, common = list(old.compile_time_args), list(old.common_runtime_args)
    text = WRITER.format(
        source=old.kernel_source, offset=len(compile_time), common=len(common), bytes=CLOCK_BYTES, cb=CLOCK_CB,
        columns=grid.x,
    )  # fmt: skip
    kernels[writer] = ttnn.KernelDescriptor(
        kernel_source=text,
        source_type=ttnn.KernelDescriptor.SourceType.SOURCE_CODE,
        core_ranges=old.core_ranges,
        compile_time_args=compile_time + accessor_args(ttnn, clocks),
        runtime_args=old.runtime_args,
        common_runtime_args=[*common, clocks.buffer_address()],
        config=old.config,
    )
    form = ttnn.CBFormatDescriptor(buffer_index=CLOCK_CB, data_format=ttnn.uint32, page_size=CLOCK_BYTES)
    clock_cb = ttnn.CBDescriptor(total_size=CLOCK_BYTES, core_ranges=old.core_ranges, format_descriptors=[form])
    clocked = ttnn.ProgramDescriptor(kernels=kernels, semaphores=list(program.semaphores), cbs=[*program.cbs, clock_cb])
    io_tensors = [*tensors[:-1], clocks, tensors[-1]]
    seconds = 0.0
    for _ in range(2):
        start = time.perf_counter()
        ttnn.generic_op(io_tensors, clocked)
        target.synchronize()
        seconds = time.perf_counter() - start
    return max(ttnn.to_torch(clocks)[..., 0].flatten().tolist()), seconds


def norm_residual(target: Target, shape: LayerShape) -> tuple[list[Any], Any]:
    """The norm with the residual add before it, of a layer of that shape."""
    ttnn = target.ttnn
    context = LayerContext(ttnn, target.device, shape, 128)
    implementation = NormResidual(LayerEnv(ttnn, target.device, shape, context), NormResidualOptions())
    b = Builder(ttnn, target.device)
    x, o = (b.tensor(twins.values(seed, (1, 1, shape.tokens, shape.hidden))) for seed in (1, 2))
    gamma = norm_tables(implementation.env, twins.values(3, (shape.hidden,)))
    x1, h = implementation._residual_norm(x, o, gamma)
    program = implementation.norms[True].descriptor
    return [x, o, gamma, x1, h], program


def main(name: str = "emulator", *shapes: str) -> None:
    """Print a line for each program; of norm_residual, for each shape."""
    with open_target(name) as target:
        b = Builder(target.ttnn, target.device)
        for cores in (1, 4):
            took, seconds = cycles(target, *twins.elementwise(b, "mul", 8, cores), writer=1)
            print(f"reader, compute, writer: 8 tiles on {cores} cores: {took} cycles, {seconds:.2f} s", flush=True)
        for text in shapes:
            shape = parse_shape(text)
            took, seconds = cycles(target, *norm_residual(target, shape), writer=1)
            tiles = f"{shape.tokens // 32} x {shape.hidden // 32} tiles, a core each"
            print(f"norm_residual, {tiles}: {took} cycles, {seconds:.2f} s", flush=True)
        target.exit_code = 0


if __name__ == "__main__":
    main(*sys.argv[1:])
