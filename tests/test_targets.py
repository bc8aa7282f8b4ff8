"""Targets open, say what they opened, and close; the recorder sees every op and every trace."""

from __future__ import annotations

import sys

import pytest
import torch

from harness import timing
from harness.case import Case, Inputs
from harness.check import Bench
from harness.dtypes import to_device
from harness.errors import UsageError
from harness.registry import parse
from harness.shape import PRESETS
from harness.targets import open_target
from harness.targets.target import find_simulator

CASE = Case(PRESETS["tiny"], S=40, Smax=128)


def test_unknown_and_missing_targets_say_what_to_do(monkeypatch, tmp_path):
    with (
        pytest.raises(UsageError, match="unknown target 'gpu'; known: emulator, simulator, device"),
        open_target("gpu"),
    ):
        pass
    monkeypatch.setenv("TT_METAL_SIMULATOR", str(tmp_path / "nothing.so"))
    assert find_simulator() is None
    with (
        pytest.raises(UsageError, match="no simulator: TT_METAL_SIMULATOR names .*nothing.so"),
        open_target("simulator"),
    ):
        pass
    monkeypatch.setattr("harness.targets.target.CARDS", tmp_path / "no-card")
    with pytest.raises(UsageError, match="no card"), open_target("device"):
        pass


def test_a_missing_ttnn_is_one_line(monkeypatch, tmp_path):
    library = tmp_path / "libttsim_bh.so"
    library.touch()
    monkeypatch.setenv("TT_METAL_SIMULATOR", str(library))
    monkeypatch.setenv("TT_METAL_SLOW_DISPATCH_MODE", "1")
    monkeypatch.setenv("TT_METAL_DISABLE_SFPLOADMACRO", "1")
    monkeypatch.setitem(sys.modules, "ttnn", None)
    with pytest.raises(UsageError, match="the real ttnn does not import"), open_target("simulator"):
        pass


def test_the_emulator_takes_both_grids():
    for grid in ((11, 10), (13, 10)):
        with open_target("emulator", grid=grid) as target:
            size = target.device.compute_with_storage_grid_size()
            assert (size.x, size.y) == grid and f"{grid[0]}x{grid[1]}" in target.opened


def test_the_recorder_sees_the_19_ops_in_order(emulator):
    bench = Bench.prepare(emulator, parse("op_graph"), Inputs.random(CASE))
    with emulator.recorder.recording() as calls:
        bench.run()
    assert [c.name.rpartition(".")[2] for c in calls] == [
        "rms_norm", "linear", "nlp_create_qkv_heads", "rms_norm", "rms_norm", "rotary_embedding_hf",
        "rotary_embedding_hf", "fill_cache", "fill_cache", "scaled_dot_product_attention_decode", "nlp_concat_heads",
        "linear", "add", "rms_norm", "linear", "linear", "multiply", "linear", "add",
    ]  # fmt: skip
    qkv = calls[1]
    assert str(qkv.inputs[1]) == "128x256 bfp8" and str(qkv.outputs[0]) == "32x256 bf16"
    with emulator.recorder.recording() as calls:
        pass
    bench.run()
    assert calls == []


def test_the_recorder_counts_live_traces(emulator):
    ttnn, device = emulator.ttnn, emulator.device
    first = ttnn.begin_trace_capture(device, cq_id=0)
    ttnn.end_trace_capture(device, first, cq_id=0)
    assert emulator.recorder.live_traces == 1
    ttnn.release_trace(device, first)
    assert emulator.recorder.live_traces == 0


def test_a_trace_of_the_layer_gives_the_bits_of_an_eager_run(emulator):
    bench = Bench.prepare(emulator, parse("op_graph"), Inputs.random(CASE))
    eager = bench.read(bench.run())
    bench.refill(*bench.inputs.caches("noise"))
    bench.run()
    trace = emulator.ttnn.begin_trace_capture(emulator.device, cq_id=0)
    out = bench.run()
    emulator.ttnn.end_trace_capture(emulator.device, trace, cq_id=0)
    emulator.ttnn.execute_trace(emulator.device, trace, cq_id=0, blocking=True)
    assert torch.equal(bench.read(out), eager)
    # Another context reaches the captured trace through the buffers alone.
    bench.context.set_context(17, 5)
    emulator.ttnn.execute_trace(emulator.device, trace, cq_id=0, blocking=True)
    changed = bench.read(out)
    assert not torch.equal(changed, eager)
    emulator.ttnn.release_trace(emulator.device, trace)
    assert torch.equal(bench.read(bench.run()), changed)


def test_traces_are_timed_in_turn_and_freed(emulator):
    bench = Bench.prepare(emulator, parse("op_graph"), Inputs.random(CASE))
    live = len(emulator.device.dram.live)
    with timing.captured(emulator, bench.run, set(), repeats=2) as one:
        with timing.captured(emulator, bench.run, set(), repeats=2) as two:
            samples = timing.interleaved_us(emulator, [one, two], rounds=4)
        assert emulator.recorder.live_traces == 1
    assert [len(s) for s in samples] == [4, 4] and all(us > 0 for s in samples for us in s)
    assert emulator.recorder.live_traces == 0
    assert len(emulator.device.dram.live) == live


def test_values_reach_the_device_and_come_back(emulator):
    x = torch.randn(1, 1, 32, 64).bfloat16()
    assert torch.equal(emulator.ttnn.to_torch(to_device(emulator.ttnn, emulator.device, x, "bf16")), x)
    with pytest.raises(UsageError, match="unknown dtype 'fp8'; known: bf16, bfp8, bfp4, fp32"):
        to_device(emulator.ttnn, emulator.device, x, "fp8")
