"""Two implementations side by side: both judged first, then timed in turn. No time without a passed check."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median

from harness import breakdown, published, timing
from harness.breakdown import Breakdown
from harness.case import Inputs
from harness.check import Bench, CheckResult, Progress, no_progress, run_check
from harness.registry import Spec
from harness.targets import Target


@dataclass(frozen=True)
class Entry:
    """One implementation of a comparison. us: published or measured time of a layer, None where there is none."""

    check: CheckResult
    breakdown: Breakdown
    us: float | None


@dataclass(frozen=True)
class Comparison:
    """Both entries and the origin of their times (None: no times, `why` says why)."""

    entries: tuple[Entry, ...]
    origin: str | None
    why: str

    @property
    def passed(self) -> bool:
        """True if both are right."""
        return all(e.check.passed for e in self.entries)


def run_compare(
    target: Target, specs: list[Spec], inputs: Inputs, progress: Progress = no_progress, timeline: bool = False
) -> Comparison:
    """Judge each of `specs` on the same inputs; then time them if all are right. timeline: as in `run_check`."""
    checks = [run_check(target, spec, inputs, _prefixed(progress, str(spec)), timeline=timeline) for spec in specs]
    lines = [breakdown.from_calls(c.implementation, target, inputs.case, c.calls, c.counts) for c in checks]
    if not all(c.passed for c in checks):
        return _comparison(checks, lines, [None] * len(checks), None, "a check failed, and what is wrong is not timed")
    if target.name == "simulator":
        return _comparison(checks, lines, [None] * len(checks), None, "a functional simulator has no clock")
    if target.name == "device":
        progress("timing", "")
        times = _trace_times(target, specs, inputs)
        return _comparison(checks, lines, list(times), timing.ORIGIN, "")
    sums = [b.total_us for b in lines]
    known = all(s is not None for s in sums)
    why = "" if known else "ops without a published time at this shape and config, or another card than the p150"
    return _comparison(checks, lines, sums, published.ORIGIN if any(sums) else None, why)


def _prefixed(progress: Progress, name: str) -> Progress:
    return lambda stage, detail: progress(f"{name}: {stage}", detail)


def _trace_times(target: Target, specs: list[Spec], inputs: Inputs) -> list[float]:
    """Median device us of a layer for each, replayed in turn."""
    # Every buffer exists before the first capture: one allocated later could lie in a trace's way.
    benches = [Bench.prepare(target, spec, inputs) for spec in specs]
    with ExitStack() as stack:
        traces = [stack.enter_context(timing.captured(target, bench.run, set())) for bench in benches]
        samples = timing.interleaved_us(target, traces)
    for bench in benches:
        bench.close()
    return [median(s) for s in samples]


def _comparison(
    checks: list[CheckResult], lines: list[Breakdown], times: list[float | None], origin: str | None, why: str
) -> Comparison:
    entries = tuple(Entry(*e) for e in zip(checks, lines, times, strict=True))
    return Comparison(entries, origin, why)
