"""Runs one layer of an implementation and judges all that the contract promises."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.bench import Bench
from harness.calls import Calls, Progress, no_progress
from harness.case import Case, Inputs
from harness.errors import UsageError
from harness.registry import Spec
from harness.targets import OpCall, Target
from harness.verdict import Part

if TYPE_CHECKING:
    from harness.emulator.programs import ProgramCounts

REPORT_LINES = 40  # of an exception: a deadlock of many threads takes some
__all__ = ["Bench", "CheckResult", "Progress", "describe", "no_progress", "program_counts", "run_check"]


@dataclass(frozen=True)
class CheckResult:
    """The verdict on one implementation.

    parts     what was looked at; all must pass
    calls     the ops of one call of `layer_fn`
    counts    for each of them what the emulator counted, None for what is no program of kernels
    host_s    seconds of the host for that call: never a device time
    """

    implementation: str
    case: Case
    target: str
    parts: tuple[Part, ...]
    calls: tuple[OpCall, ...]
    counts: tuple[ProgramCounts | None, ...]
    host_s: float

    @property
    def passed(self) -> bool:
        """True if every part passed."""
        return all(p.passed for p in self.parts)

    def part(self, name: str) -> Part | None:
        """The part of that title, None where the run did not get that far."""
        return next((p for p in self.parts if p.title == name), None)

    def worst(self, name: str) -> Part | None:
        """That tensor in the call where it is worst: one that failed, else the nearest to a limit."""
        return max((p for p in self.parts if p.name == name and p.error is not None), key=Part.nearness, default=None)


def run_check(
    target: Target,
    spec: Spec,
    inputs: Inputs,
    progress: Progress = no_progress,
    schedules: Sequence[int] = (1,),
    timeline: bool = False,
) -> CheckResult:
    """Judge `spec` on `inputs`. An exception of the implementation is a failed check, bad input an error.

    schedules   the layer runs again once for each; on the emulator they are the seeds of the order in which kernels'
                threads and transfers go (the first run's is the strictest, seed 0)
    timeline    keep what programs of kernels did when, in the first run; the emulator only
    """
    calls: list[OpCall] = []
    counts: list[ProgramCounts | None] = []
    parts: list[Part] = []
    seconds = 0.0
    if target.programs:
        target.programs.schedule_seed = 0
        target.programs.counts.clear()
    try:
        progress("upload", "weights and inputs")
        bench = Bench.prepare(target, spec, inputs)
        layer_calls = Calls(bench, schedules, parts, progress)

        def observe(call: OpCall) -> None:
            calls.append(call)
            counts.append(program_counts(target, call))
            progress("first run", f"op {len(calls)}, {call.name}")

        progress("first run", "")
        with target.recorder.observe(observe), keeping_timelines(target, timeline):
            start = time.perf_counter()
            out = bench.run()
            target.synchronize()
            seconds = time.perf_counter() - start
        layer_calls.judge(out)
        layer_calls.close()
    except UsageError:
        raise
    except (Exception, SystemExit) as error:
        parts.append(Part("runs", False, describe(error)))
    return CheckResult(str(spec), inputs.case, target.name, tuple(parts), tuple(calls), tuple(counts), seconds)


@contextmanager
def keeping_timelines(target: Target, on: bool) -> Iterator[None]:
    """Programs that run inside the block keep their timelines, if `on`."""
    if target.programs:
        target.programs.timeline = on
    try:
        yield
    finally:
        if target.programs:
            target.programs.timeline = False


def program_counts(target: Target, call: OpCall) -> ProgramCounts | None:
    """What the emulator counted of the program that `call` has just run; None if it was no program of kernels."""
    return target.programs.counts[-1] if target.programs and call.name == "generic_op" else None


def describe(error: BaseException) -> str:
    """What went wrong, and the line of the implementation it came from."""
    lines = [line.rstrip() for line in str(error).splitlines() if line.strip()] or [""]
    # tt-metal's exceptions open with their own place; what is wrong stands after the last "info:", before a backtrace.
    if "info:" in lines[:-1]:
        lines = lines[len(lines) - lines[::-1].index("info:") :]
    if "backtrace:" in lines:
        lines = lines[: lines.index("backtrace:")]
    if len(lines) > REPORT_LINES:
        lines[REPORT_LINES:] = [f"... and {len(lines) - REPORT_LINES} lines more"]
    files = [(Path(f.filename), f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    own = [(path.name, n) for path, n in files if path.parent.name == "layer_impls" and not path.name.startswith("_")]
    where = "\n({}:{})".format(*own[-1]) if own else ""
    return f"{type(error).__name__}: {chr(10).join(lines)}{where}"
