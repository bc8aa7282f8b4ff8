"""The way a device is timed, walked on targets without a clock: every path runs, on times that a test makes up."""

from __future__ import annotations

import gc
import random

import pytest

import layer_impls
from harness import comparison_report, record, report, rotation, timing
from harness.breakdown import run_breakdown
from harness.case import Case, Inputs
from harness.check import Bench
from harness.compare import run_compare
from harness.emulator import ttnn as emulated
from harness.registry import parse
from harness.shape import PRESETS
from harness.targets import open_target

CASE = Case(PRESETS["tiny"], S=40, Smax=128)
SPECS = ["op_graph", "op_graph:attn=standard", "op_graph:matmul=default"]


class Clock:
    """Stands for `time` in harness/timing.py, and for the replays: each trace takes what it is told to.

    us        of a layer by the order of capture: the first, the first again, the others
    broken    captures that no longer run when the timing is over
    """

    def __init__(self, us: list[float], broken: tuple[int, ...] = ()) -> None:
        self.us, self.broken, self.now, self.after = us, broken, 0.0, False
        self.noise = random.Random(0)
        self.execute = emulated.execute_trace

    def perf_counter(self) -> float:
        return self.now

    def progress(self, stage: str, detail: str) -> None:
        self.after |= stage == rotation.AFTER

    def replay(self, device, trace, **how):
        assert self.recorder.running, "a replay that never ends is ended"
        self.now += self.us[trace] * self.noise.gauss(1, 0.002) * timing.REPEATS / 1e6
        # The samples need no run; what is looked at afterwards does.
        if self.after and trace not in self.broken:
            self.execute(device, trace, **how)


@pytest.fixture
def as_device(emulator, monkeypatch):
    """The emulator, taken for a device."""
    emulator.name = "device"
    monkeypatch.setattr(rotation, "ROUNDS", 40)
    return emulator


def compare(target, monkeypatch, specs: list[str], clock: Clock):
    clock.recorder = target.recorder
    monkeypatch.setattr(timing, "time", clock)
    monkeypatch.setattr(emulated, "execute_trace", clock.replay)
    return run_compare(target, [parse(s) for s in specs], Inputs.random(CASE), clock.progress)


def shown(result) -> str:
    console = report.make_console()
    with console.capture() as capture:
        console.print(comparison_report.render(result))
    return capture.get()


def test_a_device_times_all_in_turn(as_device, monkeypatch):
    inputs, live = Inputs.random(CASE), len(as_device.device.dram.live)
    result = compare(as_device, monkeypatch, SPECS, Clock([450, 450, 500, 400]))
    assert result.passed and result.origin == timing.ORIGIN and result.slow == [SPECS[1]]
    first, slow, fast = (e.timing for e in result.entries)
    assert [round(t.us, -1) for t in (first, slow, fast)] == [450, 500, 400]
    assert [t.finding.verdict for t in (slow, fast, result.again)] == ["SLOW", "FAST", "SAME"]
    assert abs(slow.difference.share - 1 / 9) < 0.003 and slow.difference.low < 1 / 9 < slow.difference.high
    assert all(t.spread.n == 40 for t in (first, slow, fast))
    layers = {part.call for e in result.entries for part in e.after}
    assert layers == {f"{rotation.AFTER}, layer +{n}" for n in range(4)}, "each layer of the rotation is looked at"
    text = shown(result)
    for words in ("op_graph again", "SLOW: all of the interval lies beyond 2%", "measured on this device", "p5-p95"):
        assert words in text
    assert max(map(len, text.splitlines())) <= 140 and "predicted us" not in text
    assert record.comparison_dict(result)["entries"][1]["timing"]["finding"]["code"] == "clear"
    del inputs, result
    gc.collect()
    assert len(as_device.device.dram.live) == live and as_device.recorder.live_traces == 0, "nothing stays behind"


def test_what_is_wrong_after_the_timing_has_no_time(as_device, monkeypatch):
    """The second's traces stop to run: their outputs keep the NaN they were given."""
    result = compare(as_device, monkeypatch, SPECS[:2], Clock([450, 450, 400], broken=(2,)))
    first, second = result.entries
    assert first.passed and not second.passed and not result.passed
    assert second.check.passed and second.timing is None and result.slow == [SPECS[1]]
    text = shown(result)
    assert "after timing, layer +0: output: finite" in text and "no time: what is wrong is not timed" in text


def test_a_layer_that_cannot_be_captured_fails(as_device, monkeypatch, tmp_path):
    (tmp_path / "tired.py").write_text(
        "from layer_impls.op_graph import OpGraph\n"
        "class Tired(OpGraph):\n"
        "    calls = 0\n"
        "    def layer_fn(self, i, x, k, v):\n"
        "        self.calls += 1\n"
        "        if self.calls > 6: raise RuntimeError('no more')\n"
        "        return super().layer_fn(i, x, k, v)\n"
    )
    monkeypatch.setattr(layer_impls, "__path__", [*layer_impls.__path__, str(tmp_path)])
    result = compare(as_device, monkeypatch, ["op_graph", "tired"], Clock([450, 450, 450]))
    assert [e.passed for e in result.entries] == [True, False] and result.entries[1].check.passed
    assert result.slow == ["tired"] and as_device.recorder.live_traces == 0
    text = shown(result)
    assert "tired: timing: RuntimeError: no more" in text and "op_graph: no time: tired cannot be timed" in text


def test_a_slow_layer_gets_fewer_rounds_and_no_verdict(as_device, monkeypatch):
    result = compare(as_device, monkeypatch, SPECS[:2], Clock([1e6, 1e6, 2e6]))
    timing_ = result.entries[1].timing
    assert timing_.spread.n == 2 and timing_.finding.code == "few", "120 s are over"


def test_breakdown_on_a_device_times_each_op_by_trace(as_device, monkeypatch):
    monkeypatch.setattr(timing, "ROUNDS", 2)
    result = run_breakdown(as_device, parse("op_graph"), Inputs.random(CASE))
    assert result.origin == timing.ORIGIN and len(result.lines) == 19
    assert all(line.us and line.us > 0 for line in result.lines)
    assert as_device.recorder.live_traces == 0


def test_samples_are_taken_in_turn(emulator, monkeypatch):
    taken: list[int] = []
    monkeypatch.setattr(timing, "replay_us", lambda target, trace: taken.append(trace) or float(trace))
    samples = timing.interleaved_us(emulator, [1, 2, 3], rounds=200)
    assert samples == [[1.0] * 200, [2.0] * 200, [3.0] * 200]
    rounds = [tuple(taken[n : n + 3]) for n in range(0, len(taken), 3)]
    assert len(rounds) == 200 + timing.WARM_UP
    assert all(b == a[::-1] for a, b in zip(rounds[::2], rounds[1::2], strict=True)), "each order and its reverse"
    assert len(set(rounds)) == 6, "all orders come"


def test_a_capture_that_fails_leaves_no_trace(emulator):
    calls: list[int] = []

    def call():
        calls.append(1)
        if len(calls) == 3:
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"), timing.captured(emulator, call, set()):
        pass
    assert emulator.recorder.live_traces == 0


@pytest.mark.simulator
@pytest.mark.slow
def test_the_real_ttnn_captures_and_replays_a_layer():
    with open_target("simulator", trace_region=timing.TRACE_REGION) as target:
        bench = Bench.prepare(target, parse("op_graph"), Inputs.random(CASE))
        with timing.captured(target, bench.run, set(), repeats=2) as trace:
            assert timing.replay_us(target, trace, repeats=2) > 0
        target.exit_code = 0
