"""Times of the twins and of the op graph's ops on a target: by trace on a device, predicted on the emulator."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any

from harness import timing
from harness.breakdown import Breakdown, run_breakdown
from harness.calibration.build import Builder
from harness.calibration.twins import Launch, Twin
from harness.case import Case, Inputs
from harness.check import Progress
from harness.registry import parse
from harness.targets import Target


def prepare(target: Target, twins: Mapping[str, Twin]) -> dict[str, Launch]:
    """The twins' tensors and programs on the target's device."""
    b = Builder(target.ttnn, target.device)
    return {name: twin.build(b) for name, twin in twins.items()}


def twin_us(target: Target, launches: Mapping[str, Launch]) -> list[float]:
    """us of each twin, from op to op."""
    return [_launch_us(target, *launch) for launch in launches.values()]


def _launch_us(target: Target, tensors: list[Any], program: Any) -> float:
    def call() -> Any:
        return target.ttnn.generic_op(tensors, program)

    if target.programs:
        call()
        return target.programs.counts[-1].predicted.us
    with timing.captured(target, call, {tensors[-1].buffer_address()}) as trace:
        return median(timing.interleaved_us(target, [trace])[0])


def op_graph(target: Target, case: Case, progress: Progress) -> tuple[Breakdown, list[float]]:
    """The ops of a layer, and us of each."""
    b = run_breakdown(target, parse("op_graph"), Inputs.random(case), progress)
    times = [line.predicted_us if target.programs else line.us for line in b.lines]
    return b, [us for us in times if us is not None]
