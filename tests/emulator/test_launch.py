"""What is refused before a kernel runs, and what the device's compiler would refuse."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from harness.emulator import toolchain
from harness.emulator.programs import KernelFault, programs_of
from harness.errors import UsageError
from tests.emulator import good
from tests.emulator.build import Builder


def launch(b: Builder, source: str, tmp_path: Path, role: str = "reader", **changes: object) -> None:
    path = tmp_path / "kernel.cpp"
    path.write_text(source)
    cores, out = b.grid(1), b.empty((1, 1, 32, 32))
    b.run([out, out], b.program([b.kernel(path, role, cores)], [b.cb(0, cores)]))


DATAFLOW = '#include "api/dataflow/dataflow_api.h"\nvoid kernel_main() {{\n    {}\n}}\n'


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("noc_async_read_sharded(0);", "noc_async_read_sharded is not modelled by the emulator"),
        ("noc_inline_dw_write<InlineWriteDst::L1, false, false>(0, 1);", "without their flush are not modelled"),
        ("noc_inline_dw_write_set_state(0);", "noc_inline_dw_write_set_state is not modelled"),
        ("uint32_t x = get_compile_time_arg_val(0); (void)x;", "fewer compile-time arguments"),
        ("uint32_t* p = 5; (void)p;", "invalid conversion|cannot initialize"),  # what -fpermissive alone would let pass
        ("if (uint32_t a = 1) { }", None),
        ("auto* p = reinterpret_cast<uint32_t*>(get_write_ptr(0)); (void)uint32_t(uintptr_t(p));", None),
        ("auto* p = reinterpret_cast<uint32_t*>(get_write_ptr(0)); (void)reinterpret_cast<uint32_t>(p);", None),
        ("throw 1;", "exceptions? (handling )?disabled"),
        ("get_local_cb_interface(0).fifo_wr_ptr = 0;", "read-only|const value"),
    ],
)
def test_compile_errors(builder: Builder, tmp_path: Path, body: str, message: str | None) -> None:
    if message is None:
        launch(builder, DATAFLOW.format(body), tmp_path)
        return
    with pytest.raises(KernelFault, match=message) as caught:
        launch(builder, DATAFLOW.format(body), tmp_path)
    assert caught.value.kind == "compile-error"


def test_a_header_that_is_not_there(builder: Builder, tmp_path: Path) -> None:
    with pytest.raises(KernelFault, match="api/compute/eltwise_unary/gelu.h is not modelled by the emulator"):
        launch(builder, '#include "api/compute/eltwise_unary/gelu.h"\nvoid kernel_main() {}\n', tmp_path, "compute")


def test_dataflow_headers_are_no_compute_headers(builder: Builder, tmp_path: Path) -> None:
    with pytest.raises(KernelFault, match="belongs to data-movement kernels"):
        launch(builder, DATAFLOW.format(""), tmp_path, "compute")


@pytest.mark.parametrize("header", ["<vector>", '"string"', "<sys/mman.h>", "<stdio.h>", "<cmath>"])
def test_host_headers(builder: Builder, tmp_path: Path, header: str) -> None:
    with pytest.raises(KernelFault, match="is a header of the host") as caught:
        launch(builder, f"#include {header}\n{DATAFLOW.format('')}", tmp_path)
    assert caught.value.kind == "host-header"


def test_a_changed_header_is_compiled_again(builder: Builder, tmp_path: Path) -> None:
    header = tmp_path / "answer.h"
    for body in ("", "ASSERT(false);"):
        header.write_text(f"inline void answer() {{ {body} }}\n")
        programs_of(builder.device).cache.clear()
        source = '#include "api/dataflow/dataflow_api.h"\n#include "answer.h"\nvoid kernel_main() { answer(); }\n'
        if not body:
            launch(builder, source, tmp_path)
            continue
        with pytest.raises(KernelFault, match="does not hold"):
            launch(builder, source, tmp_path)


def test_l1_overflow(builder: Builder) -> None:
    b, cores = builder, builder.grid(1)
    out = b.empty((1, 1, 32, 32))
    program = b.program([b.kernel("writer.cpp", "writer", cores, [0, 1, *b.accessors(out)])], [b.cb(0, cores, 800)])
    with pytest.raises(KernelFault, match="clash with the end of L1 at 1572864 B") as caught:
        b.run([out, out], program)
    assert caught.value.kind == "l1-overflow"


def test_circular_buffers_clash_with_tensors_in_l1(builder: Builder) -> None:
    b, cores = builder, builder.grid(1)
    a, out = b.tensor(good.values(1), memory="L1"), b.empty((1, 1, 32, 32))
    program = b.program([b.kernel("writer.cpp", "writer", cores, [0, 1, *b.accessors(out)])], [b.cb(0, cores, 713)])
    with pytest.raises(KernelFault, match="clash with L1 tensors at 1570816 B"):
        b.run([a, out], program)


def test_cb_of_no_whole_pages(builder: Builder) -> None:
    b, t, cores = builder, builder.ttnn, builder.grid(1)
    out = b.empty((1, 1, 32, 32))
    cb = t.CBDescriptor(
        total_size=3000,
        core_ranges=cores,
        format_descriptors=[t.CBFormatDescriptor(buffer_index=0, data_format=t.bfloat16, page_size=2048)],
    )
    with pytest.raises(KernelFault, match="3000 B are no whole number of pages of 2048 B"):
        b.run([out, out], b.program([b.kernel("writer.cpp", "writer", cores, [0, 1, *b.accessors(out)])], [cb]))


def test_two_kernels_on_one_risc(builder: Builder) -> None:
    b, cores = builder, builder.grid(1)
    out = b.empty((1, 1, 32, 32))
    kernel = b.kernel("writer.cpp", "writer", cores, [0, 1, *b.accessors(out)])
    with pytest.raises(KernelFault, match="kernels 0 and 1 both run on RISCV_0 of core 0-0"):
        b.run([out, out], b.program([kernel, kernel], [b.cb(0, cores)]))


def test_two_kernels_on_one_noc(builder: Builder) -> None:
    b, t, cores = builder, builder.ttnn, builder.grid(1)
    a, out = b.empty((1, 1, 32, 32)), b.empty((1, 1, 32, 32))
    reader = b.kernel("reader.cpp", "reader", cores, [1, 1, *b.accessors(a)])
    writer = b.kernel("writer.cpp", "writer", cores, [0, 1, *b.accessors(out)])
    writer.config = t.DataMovementConfigDescriptor(processor=t.DataMovementProcessor.RISCV_0, noc=t.NOC.NOC_0)
    with pytest.raises(KernelFault, match="kernels 0 and 1 both run on NoC 0 of core 0-0"):
        b.run([a, out], b.program([reader, writer], [b.cb(0, cores)]))


def test_core_outside_the_grid(builder: Builder) -> None:
    b, cores = builder, builder.grid(12)
    out = b.empty((1, 1, 32, 32))
    with pytest.raises(KernelFault, match="core 11-0 is outside the grid of 11x10"):
        b.run([out, out], b.program([b.kernel("writer.cpp", "writer", cores, [0, 1, *b.accessors(out)])], []))


def test_a_program_without_end(builder: Builder, tmp_path: Path) -> None:
    """A loop that calls the machine is ended by the program's time limit."""
    programs_of(builder.device).time_limit = 1
    with pytest.raises(KernelFault, match="has not ended") as caught:
        launch(builder, DATAFLOW.format("for (;;) noc_async_read_barrier();"), tmp_path)
    assert caught.value.kind == "infinite-loop"
    assert caught.value.location is not None and caught.value.location.line == 3


def test_tensors_in_l1(builder: Builder) -> None:
    """Interleaved over the cores' L1, reached by the same accessor."""
    b, cores = builder, builder.grid(2)
    a, out = b.tensor(good.values(1), memory="L1"), b.empty(good.SHAPE)
    kernels = [
        b.kernel(
            "reader.cpp", "reader", cores, [1, 2, *b.accessors(a)], lambda x, y: [a.buffer_address(), 0, x * 4, 4]
        ),
        b.kernel(
            "writer.cpp", "writer", cores, [0, 2, *b.accessors(out)], lambda x, y: [out.buffer_address(), x * 4, 4]
        ),
    ]
    assert torch.equal(b.run([a, out], b.program(kernels, [b.cb(0, cores, 4)])), good.values(1))
    total = programs_of(b.device).counts[-1].total
    assert (total.dram_reads, total.l1_reads, total.l1_read_bytes) == (0, 8, 8 * 2048)


def test_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delenv("CXX", raising=False)
    toolchain.compiler.cache_clear()
    try:
        with pytest.raises(UsageError, match="no C\\+\\+ compiler found"):
            toolchain.compiler()
    finally:
        toolchain.compiler.cache_clear()
