"""Other orders of threads and transfers: right kernels do not care, and a fault becomes a verdict that names it."""

from __future__ import annotations

from typing import Any

import pytest

from harness.case import Case, Inputs
from harness.check import run_check
from harness.registry import Spec, parse
from harness.shape import PRESETS
from layer_impls.op_graph import OpGraph, OpGraphOptions
from tests.test_cli import run_main

CASE = Case(PRESETS["tiny"], S=40, Smax=128)
COPY = """
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    constexpr auto in_args = TensorAccessorArgs<0>();
    constexpr auto out_args = TensorAccessorArgs<in_args.next_compile_time_args_offset()>();
    const auto in = TensorAccessor(in_args, get_common_arg_val<uint32_t>(0), get_tile_size(0));
    const auto out = TensorAccessor(out_args, get_common_arg_val<uint32_t>(1), get_tile_size(0));
    for (uint32_t page = 0; page < get_arg_val<uint32_t>(0); ++page) {
        noc_async_read_page(page, in, get_write_ptr(0));
        READ_BARRIER
        noc_async_write_page(page, out, get_write_ptr(0));
        noc_async_write_barrier();
    }
}
"""


class Copies(OpGraph):
    """The op graph, its output copied by a kernel on one core."""

    barrier = "noc_async_read_barrier();"

    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        ttnn, source = self.env.ttnn, super().layer_fn(i, x, k_cache, v_cache)
        copy = ttnn.allocate_tensor_on_device(
            source.shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, self.env.device, ttnn.DRAM_MEMORY_CONFIG
        )
        core = ttnn.CoreCoord(0, 0)
        cores = ttnn.CoreRangeSet([ttnn.CoreRange(core, core)])
        accessors = [arg for t in (source, copy) for arg in ttnn.TensorAccessorArgs(t).get_compile_time_args()]
        args = ttnn.RuntimeArgs()
        args[0][0] = [self.env.shape.tokens * self.env.shape.hidden // 1024]
        kernel = ttnn.KernelDescriptor(
            kernel_source=COPY.replace("READ_BARRIER", self.barrier),
            source_type=ttnn.KernelDescriptor.SourceType.SOURCE_CODE,
            core_ranges=cores,
            compile_time_args=accessors,
            runtime_args=args,
            common_runtime_args=[source.buffer_address(), copy.buffer_address()],
            config=ttnn.ReaderConfigDescriptor(),
        )
        page = ttnn.CBFormatDescriptor(buffer_index=0, data_format=ttnn.bfloat16, page_size=2048)
        cb = ttnn.CBDescriptor(total_size=2048, core_ranges=cores, format_descriptors=[page])
        program = ttnn.ProgramDescriptor(kernels=[kernel], semaphores=[], cbs=[cb])
        return ttnn.generic_op([source, copy], program)


class CopiesTooSoon(Copies):
    barrier = ""


def judge(target, cls: type[OpGraph]) -> Any:
    return run_check(target, Spec(cls.__name__, cls, OpGraphOptions()), Inputs.random(CASE))


def test_a_kernel_without_its_barrier_fails_by_name_place_and_line(emulator):
    assert judge(emulator, Copies).passed
    result = judge(emulator, CopiesTooSoon)
    fault = result.part("runs")
    assert fault is not None and not fault.passed
    assert "KernelFault" in fault.text and "core (0,0) RISCV_1" in fault.text
    assert "noc_async_write_page(page, out, get_write_ptr(0));" in fault.text


# The first has the kernels of two more, tests/test_fused_blocks.py those of the last.
@pytest.mark.parametrize(
    "spec",
    ["partly_fused", *(pytest.param(s, marks=pytest.mark.slow) for s in ("norm_residual", "heads_rope", "attention"))],
)
def test_right_kernels_give_the_same_bits_under_50_schedules(emulator, spec):
    result = run_check(emulator, parse(spec), Inputs.random(CASE), schedules=range(1, 51))
    assert result.passed, "\n".join(f"{p.name}: {p.text}" for p in result.parts if not p.passed)


def test_schedules_are_the_emulators(monkeypatch, capsys):
    code, _, stderr = run_main(monkeypatch, capsys, "check", "op_graph", "--target", "simulator", "--schedules", "3")
    assert code == 2 and "the simulator has one schedule, its own" in stderr
    code, _, stderr = run_main(monkeypatch, capsys, "check", "op_graph", "--schedules", "0")
    assert code == 2 and "schedules must lie in 1..10000" in stderr
