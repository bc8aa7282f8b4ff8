"""Implementations side by side: all judged first, then timed in turn. No time without a passed check."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness import breakdown, costs, paired, rotation, timing
from harness.breakdown import Breakdown
from harness.calls import Progress, no_progress
from harness.case import Inputs
from harness.check import CheckResult, run_check
from harness.paired import Difference, Finding, Spread
from harness.registry import Spec
from harness.rotation import Timed, Untimed
from harness.targets import Target
from harness.verdict import Part

FAILED = "what is wrong is not timed"


@dataclass(frozen=True)
class Timing:
    """The time of a layer beside the first implementation's.

    us           median if measured, else predicted
    spread       of the samples; None for a prediction
    difference   to the first, with its interval; None for a prediction
    finding      None for the first itself
    """

    us: float
    spread: Spread | None = None
    difference: Difference | None = None
    finding: Finding | None = None


@dataclass(frozen=True)
class Entry:
    """One implementation of a comparison.

    timing   None where there is none, and `why` says why
    after    what was looked at once more after it was timed
    """

    check: CheckResult
    breakdown: Breakdown
    timing: Timing | None
    why: str = ""
    after: tuple[Part, ...] = ()

    @property
    def passed(self) -> bool:
        """Right, and still right after it was timed."""
        return self.check.passed and all(p.passed for p in self.after)


@dataclass(frozen=True)
class Comparison:
    """All entries, the first being what the others are compared with.

    origin      of the times
    again       the first once more, prepared and captured anew: what differs from it is noise; where times are measured
    clock_mhz   of the card while it was timed, where it tells
    host_s      seconds of the host for all of it
    """

    entries: tuple[Entry, ...]
    origin: str
    again: Timing | None = None
    clock_mhz: int | None = None
    host_s: float = 0.0

    @property
    def passed(self) -> bool:
        """True if all are right."""
        return all(e.passed for e in self.entries)

    @property
    def slow(self) -> list[str]:
        """Those that are slower than the first, or of which nobody knows."""
        rest = self.entries[1:]
        return [
            e.check.implementation
            for e in rest
            if not (e.timing and e.timing.finding) or e.timing.finding.verdict == paired.SLOW
        ]


def run_compare(
    target: Target, specs: Sequence[Spec], inputs: Inputs, progress: Progress = no_progress, timeline: bool = False
) -> Comparison:
    """Judge each of `specs` on the same inputs, then time those that are right. timeline: as in `run_check`."""
    start = time.perf_counter()
    names = [str(spec) for spec in specs]
    checks = [
        run_check(target, spec, inputs, _prefixed(progress, name), timeline=timeline)
        for spec, name in zip(specs, names, strict=True)
    ]
    lines = [breakdown.from_calls(c.implementation, target, inputs.case, c.calls, c.counts) for c in checks]
    if target.name == "device":
        found = _measured(target, specs, inputs, progress, checks, lines)
    else:
        found = _by_model(target, checks, lines)
    return replace(found, host_s=time.perf_counter() - start)


def _by_model(target: Target, checks: list[CheckResult], lines: list[Breakdown]) -> Comparison:
    """Without a device: predicted times, or none."""
    origin = f"{costs.ORIGIN}; {target.chip.calibration}" if target.name == "emulator" else "none"
    first = lines[0].predicted_us if checks[0].passed else None
    entries = [_predicted(c, b, first, n == 0) for n, (c, b) in enumerate(zip(checks, lines, strict=True))]
    return Comparison(tuple(entries), origin)


def _prefixed(progress: Progress, name: str) -> Progress:
    return lambda stage, detail: progress(f"{name}: {stage}", detail)


def _predicted(check: CheckResult, lines: Breakdown, first: float | None, is_first: bool) -> Entry:
    us = lines.predicted_us
    if not check.passed:
        return Entry(check, lines, None, FAILED)
    if check.target == "simulator":
        return Entry(check, lines, None, "a functional simulator has no clock")
    if us is None:
        return Entry(check, lines, None, "an op of it has no cost model")
    found = paired.judge_exact(first, us) if first and not is_first else None
    return Entry(check, lines, Timing(us, finding=found))


def _measured(
    target: Target,
    specs: Sequence[Spec],
    inputs: Inputs,
    progress: Progress,
    checks: list[CheckResult],
    lines: list[Breakdown],
) -> Comparison:
    """On a device: the first twice, then the others, in turn."""
    if not checks[0].passed:
        why = f"{specs[0]}, what to compare with, is wrong"
        entries = [Entry(c, b, None, why if c.passed else FAILED) for c, b in zip(checks, lines, strict=True)]
        return Comparison(tuple(entries), timing.ORIGIN)
    right = [spec for spec, check in zip(specs, checks, strict=True) if check.passed]
    try:
        first, again, *others = rotation.time_layers(target, [right[0], *right], inputs, progress)
    except Untimed as error:
        return _untimed(error, checks, lines)
    noise = paired.difference(first.samples, again.samples).farthest
    rest = iter([first, *others])
    entries = []
    for check, b in zip(checks, lines, strict=True):
        timed = next(rest) if check.passed else None
        after = timed.parts if timed else ()
        if timed is None or not all(p.passed for p in after):
            entries.append(Entry(check, b, None, FAILED, after))
        elif timed is first:
            entries.append(Entry(check, b, _timing(first), "", after))
        else:
            entries.append(Entry(check, b, _timing(timed, first, noise), "", after))
    return Comparison(tuple(entries), timing.ORIGIN, _timing(again, first), first.clock_mhz)


def _untimed(error: Untimed, checks: list[CheckResult], lines: list[Breakdown]) -> Comparison:
    """One of them cannot be timed; then nothing is, for its trace may be half captured."""
    entries = []
    for check, b in zip(checks, lines, strict=True):
        guilty = check.implementation == error.implementation
        why = f"{error.implementation} cannot be timed" if check.passed else FAILED
        entries.append(Entry(check, b, None, why, (Part("timing", False, error.why),) if guilty else ()))
    return Comparison(tuple(entries), timing.ORIGIN)


def _timing(timed: Timed, first: Timed | None = None, noise: float = 0.0) -> Timing:
    """The times beside the first's, if it is another."""
    of = paired.spread(timed.samples)
    if first is None:
        return Timing(of.median, of)
    a, b = first.samples, timed.samples
    return Timing(of.median, of, paired.difference(a, b), paired.judge(a, b, noise))
