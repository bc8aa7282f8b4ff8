"""Deliberately broken kernels, one fault each: the emulator names the fault, the line, the core and the thread."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.emulator.programs import KernelFault
from tests.emulator.build import Builder
from tests.emulator.good import values

BROKEN = sorted((Path(__file__).parent / "broken").glob("*.cpp"))
ROOT = Path(__file__).parents[2]


def run_broken(b: Builder, source: Path) -> None:
    """The program around a broken kernel (broken/program.h)."""
    t, text = b.ttnn, source.read_text()
    a, out, cores = b.tensor(values(1)), b.empty((1, 1, 64, 128)), b.grid(2)
    half = t.CBFormatDescriptor(buffer_index=5, data_format=t.bfloat16, page_size=1024)
    cbs = [b.cb(i, cores, 4) for i in range(3)] + [b.cb(3, cores, 4, "bfloat8_b"), b.cb(4, cores, 2, "float32")]
    cbs.append(t.CBDescriptor(total_size=2048, core_ranges=cores, format_descriptors=[half]))
    common = [a.buffer_address(), out.buffer_address()]
    kernels = [
        b.kernel(source, role, cores, b.accessors(a, out), lambda x, y: b.noc(1 - x, 0), common)
        for role in ("reader", "writer", "compute")
        if f"defined({role.upper()})" in text or (role == "reader" and "defined(" not in text)
    ]
    b.run([a, out], b.program(kernels, cbs, [(0, cores, 0), (1, cores, 0)]))


@pytest.mark.parametrize("source", BROKEN, ids=lambda p: p.stem)
def test_fault_is_named(builder: Builder, source: Path) -> None:
    text = source.read_text()
    expected = re.match(r"// expect: ([\w-]+)(?: \((\d+),(\d+)\) (\w+))?\n", text)
    assert expected is not None
    lines = [n for n, s in enumerate(text.splitlines(), start=1) if s.endswith("// FAULT")]
    with pytest.raises(KernelFault) as caught:
        run_broken(builder, source)
    fault = caught.value
    assert fault.kind == expected[1], str(fault)
    assert fault.location is not None and fault.location.file.name == source.name, str(fault)
    assert fault.location.line in lines, str(fault)
    if expected[2]:
        assert fault.core == (int(expected[2]), int(expected[3])) and fault.thread == expected[4], str(fault)


def test_the_pitfalls_in_the_docs_name_kernels_and_tests() -> None:
    section = (ROOT / "docs" / "emulator.md").read_text().split("## Blackhole's pitfalls")[1]
    here = "".join(line.split("|")[3] for line in section.splitlines() if line.startswith("| "))
    kernels = set(re.findall(r"(?<![`\w])[a-z]+_\w+(?![`\w])", here))
    assert kernels and kernels <= {path.stem for path in BROKEN}
    code = [*(ROOT / "tests").rglob("test_*.py"), ROOT / "harness" / "battery.py"]
    known = {path.name for path in code}.union(*(re.findall(r"def (test_\w+)", path.read_text()) for path in code))
    tests = set(re.findall(r"`(test_[\w.]+)`", here))
    assert tests and tests <= known
