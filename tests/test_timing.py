"""The way a device is timed, walked on targets without a clock: every path runs, the figures mean nothing."""

from __future__ import annotations

import gc

import pytest

from harness import timing
from harness.breakdown import run_breakdown
from harness.case import Case, Inputs
from harness.check import Bench
from harness.compare import run_compare
from harness.registry import parse
from harness.shape import PRESETS
from harness.targets import open_target

CASE = Case(PRESETS["tiny"], S=40, Smax=128)
SPECS = ["op_graph", "op_graph:attn=standard"]


@pytest.fixture
def as_device(emulator):
    """The emulator, taken for a device."""
    emulator.name = "device"
    return emulator


def test_compare_on_a_device_times_both_by_trace(as_device):
    result = run_compare(as_device, [parse(s) for s in SPECS], Inputs.random(CASE))
    assert result.passed and result.origin == timing.ORIGIN
    assert all(e.us and e.us > 0 for e in result.entries)
    assert as_device.recorder.live_traces == 0


def test_breakdown_on_a_device_times_each_op_by_trace(as_device):
    result = run_breakdown(as_device, parse("op_graph"), Inputs.random(CASE))
    assert result.origin == timing.ORIGIN and len(result.lines) == 19
    assert all(line.us and line.us > 0 for line in result.lines)
    assert as_device.recorder.live_traces == 0


def test_nothing_stays_on_the_device(as_device):
    inputs, live = Inputs.random(CASE), len(as_device.device.dram.live)
    run_compare(as_device, [parse(s) for s in SPECS], inputs)
    gc.collect()
    assert len(as_device.device.dram.live) == live


def test_samples_are_taken_in_turn(emulator, monkeypatch):
    order: list[int] = []
    monkeypatch.setattr(timing, "replay_us", lambda target, trace: order.append(trace) or float(trace))
    assert timing.interleaved_us(emulator, [1, 2], replays=3) == [[1.0] * 3, [2.0] * 3]
    assert order == [1, 2, 1, 2, 2, 1, 1, 2], "a warm-up of each, then A B, B A, A B"


@pytest.mark.simulator
@pytest.mark.slow
def test_the_real_ttnn_captures_and_replays_a_layer():
    with open_target("simulator", trace_region=timing.TRACE_REGION) as target:
        bench = Bench.prepare(target, parse("op_graph"), Inputs.random(CASE))
        with timing.captured(target, bench.run, set(), repeats=2) as trace:
            assert timing.replay_us(target, trace, repeats=2) > 0
        target.exit_code = 0
