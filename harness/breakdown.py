"""A line per op of one layer: what it works on, its times and where they come from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from harness import published, timing
from harness.case import Case, Inputs
from harness.check import Bench, Progress, keeping_timelines, no_progress, program_counts
from harness.costs import P150, Chip, Prediction, predict_call
from harness.registry import Spec
from harness.targets import OpCall, Target

if TYPE_CHECKING:
    from harness.emulator.programs import ProgramCounts

# What a core's threads wait for that is not another thread of the core.
OUTSIDE = {"read": "reads", "write": "writes", "semaphore": "semaphores"}


@dataclass(frozen=True)
class OpLine:
    """One op: label, call, published or measured us (None: not known), predicted time (None: no prediction).

    counts: what a program of kernels did on the emulator.
    """

    label: str
    call: OpCall
    us: float | None
    predicted: Prediction | None = None
    counts: ProgramCounts | None = None

    @property
    def predicted_us(self) -> float | None:
        """us on ttnn 0.81.1, predicted."""
        return self.predicted.us if self.predicted else None


@dataclass(frozen=True)
class Breakdown:
    """The ops of a layer in order, the origin of their times (None: there are none), the layer's case, and the card
    that predictions are for."""

    implementation: str
    target: str
    chip: Chip
    case: Case
    lines: tuple[OpLine, ...]
    origin: str | None

    @property
    def total_us(self) -> float | None:
        """Sum over the ops; None unless every op has a time."""
        return _sum([line.us for line in self.lines])

    @property
    def predicted_us(self) -> float | None:
        """Sum of the predictions; None unless every op has one."""
        return _sum([line.predicted_us for line in self.lines])


def _sum(times: list[float | None]) -> float | None:
    return sum(t for t in times if t is not None) if times and None not in times else None


def from_calls(
    implementation: str,
    target: Target,
    case: Case,
    calls: Sequence[OpCall],
    counts: Sequence[ProgramCounts | None],
) -> Breakdown:
    """The breakdown that needs no further run: published and predicted times on the emulator, none on a simulator."""
    labelled, chip = published.label_calls(calls), target.chip
    if target.name == "emulator":
        cores = target.device.compute_with_storage_grid_size()
        on_published = chip.name == P150.name
        lines = tuple(
            OpLine(
                e.label,
                e.call,
                e.us if on_published else None,
                of_program(c) if c else predict_call(e.call, (cores.x, cores.y), chip),
                c,
            )
            for e, c in zip(labelled, counts, strict=True)
        )
    else:
        lines = tuple(OpLine(e.label, e.call, None) for e in labelled)
    any_known = any(line.us is not None for line in lines)
    return Breakdown(implementation, target.name, chip, case, lines, published.ORIGIN if any_known else None)


def of_program(counts: ProgramCounts) -> Prediction:
    """A program of kernels, by the emulator's virtual time. It is bound by what takes one thread of its slowest core
    longest: what it waits for from outside the core, or its own work (that of a data-movement RISC: `RISC`)."""
    p = counts.predicted
    took: dict[str, int] = {}
    for name, thread in p.cores[p.slowest].items():
        own = "RISC" if name.startswith("RISCV") else "compute"
        cycles = {own: thread.running} | {OUTSIDE[why]: n for why, n in thread.stalls.items() if why in OUTSIDE}
        took |= {cause: max(n, took.get(cause, 0)) for cause, n in cycles.items()}
    return Prediction(p.us, max(took, key=took.__getitem__), p.dram_bytes)


@dataclass(frozen=True)
class Rates:
    """A program of kernels beside what DRAM gives; predicted.

    launch_us     of its time, from the end of the program before
    gb_s          bytes of DRAM over the whole time; dram_share: of the peak
    floor_us      what it moved, each byte once, at the best rate seen; floor_share: of its time
    """

    launch_us: float
    gb_s: float
    dram_share: float
    floor_us: float
    floor_share: float


def rates(counts: ProgramCounts, chip: Chip) -> Rates:
    """How near a program came to what DRAM gives."""
    p = counts.predicted
    floor_us = p.dram_once_bytes / chip.dram_best / 1e3
    launch_us = p.launch_cycles / p.clock_mhz
    return Rates(launch_us, p.dram_gb_s, p.dram_gb_s / chip.dram_peak, floor_us, floor_us / p.us)


def run_breakdown(
    target: Target, spec: Spec, inputs: Inputs, progress: Progress = no_progress, timeline: bool = False
) -> Breakdown:
    """Run one layer and list its ops; on a device each op is timed in a trace of its own.

    timeline   keep what programs of kernels did when; the emulator only
    """
    bench = Bench.prepare(target, spec, inputs)
    keep = {bench.k.buffer_address(), bench.v.buffer_address()}
    with keeping_timelines(target, timeline):
        result, out = observe(target, str(spec), inputs.case, bench.run, keep, progress)
    target.ttnn.deallocate(out)
    bench.close()
    return result


def observe(
    target: Target,
    implementation: str,
    case: Case,
    run: Callable[[], Any],
    keep: set[int],
    progress: Progress = no_progress,
) -> tuple[Breakdown, Any]:
    """Run one layer of `case`: its breakdown, and what `run` returned. keep: buffers that ops write in place."""
    calls: list[OpCall] = []
    times: list[float] = []
    counts: list[ProgramCounts | None] = []

    def note(call: OpCall) -> None:
        calls.append(call)
        progress("ops", f"{len(calls)}: {call.name}")
        counts.append(program_counts(target, call))
        if target.name == "device":
            times.append(_op_us(target, lambda: call.fn(*call.args, **call.kwargs), keep))

    with target.recorder.observe(note):
        out = run()
    if target.name != "device":
        return from_calls(implementation, target, case, calls, counts), out
    labels = [e.label for e in published.label_calls(calls)]
    lines = tuple(OpLine(*line) for line in zip(labels, calls, times, strict=True))
    return Breakdown(implementation, target.name, target.chip, case, lines, timing.ORIGIN), out


def _op_us(target: Target, call: Callable[[], object], keep: set[int]) -> float:
    with timing.captured(target, call, keep) as trace:
        return median(timing.interleaved_us(target, [trace])[0])
