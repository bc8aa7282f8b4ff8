"""What virtual time costs: CPU seconds of the machine with it, without it, and when it keeps a timeline.

``python -m benchmarks.virtual_time`` builds a machine without virtual time (half a minute), then runs three programs in
turn on each and prints the medians.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from unittest import mock

from benchmarks import emulated_matmul
from harness.calibration import twins
from harness.emulator import programs, toolchain, ttnn
from harness.emulator.programs import programs_of
from tests.emulator.build import Builder

ROUNDS = 7
WORK: dict[str, Callable[[Builder], object]] = {
    "matmul, 12,288 products on 64 cores": lambda b: b.run(*emulated_matmul.make(b)),
    "copy, 110 cores x 128 tiles, 8 in flight": lambda b: b.run(*twins.copy(b, 110, 128, block=8)),
    "norm, 2 cores x 48 tiles, four passes": lambda b: b.run(*twins.norm(b, 2, 48, 8)),
}


def without_time() -> Path:
    """The machine with nothing in the place of virtual time."""
    sources = [*(toolchain.NATIVE / "machine").glob("*.cpp"), *(toolchain.NATIVE / "tile").glob("*.cpp")]
    stub = Path(__file__).with_name("no_time.cpp")
    return toolchain.build_machine(sorted([*(s for s in sources if s.name != "timing.cpp"), stub]))


def cpu_seconds(machine: Path, work: Callable[[Builder], object], timeline: bool = False) -> float:
    """CPU seconds of the machine's processes for a program."""
    device = ttnn.open_device(device_id=0)
    programs_of(device).timeline = timeline
    builder = Builder(SimpleNamespace(**{**vars(ttnn), **vars(programs)}), device)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with mock.patch.object(toolchain, "machine", lambda: machine):
        work(builder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    ttnn.close_device(device)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    timed, bare = toolchain.machine(), without_time()
    print("CPU seconds, median of", ROUNDS)
    for name, work in WORK.items():
        cpu_seconds(timed, work)  # compiles what is new
        runs = [
            (cpu_seconds(bare, work), cpu_seconds(timed, work), cpu_seconds(timed, work, True)) for _ in range(ROUNDS)
        ]
        without, with_time, kept = map(median, zip(*runs, strict=True))
        print(
            f"{name}: without {without:.3f}, with virtual time {with_time:.3f} ({with_time / without:.2f}x), ", end=""
        )
        print(f"with a timeline {kept:.3f} ({kept / without:.2f}x)")


if __name__ == "__main__":
    main()
