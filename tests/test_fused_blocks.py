"""The layer in three programs: right as a whole, on both targets, whatever changes between its calls."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import battery
from harness.case import Case, Inputs
from harness.check import Bench, run_check
from harness.emulator.memory import L1_BYTES
from harness.emulator.programs import programs_of
from harness.errors import UsageError
from harness.published import label_calls
from harness.registry import parse
from harness.shape import PRESETS, parse_shape
from harness.strategies import cases
from harness.targets import open_target
from tests.conftest import run_battery_on_the_real_ttnn, run_cli
from tests.test_cli import run_main
from tests.test_fused import CHANGES, UNEVEN

GRIDS = ((11, 10), (13, 10))
PROGRAMS = ["qkv_heads", "attention", "wo_swiglu"]


def check(case: Case, schedules: range = range(1, 2), grid: tuple[int, int] = GRIDS[0]) -> None:
    with open_target("emulator", grid=grid) as target:
        result = run_check(target, parse("fused_blocks"), Inputs.random(case), schedules=schedules)
    assert result.passed, "\n".join(f"{p.name}: {p.text}" for p in result.parts if not p.passed)
    assert len(result.calls) == len(PROGRAMS)


@pytest.mark.slow
@given(case=cases(), grid=st.sampled_from(GRIDS))
@settings(max_examples=8)
def test_random_legal_shapes_pass_on_the_emulator(case, grid):
    check(case, grid=grid)


def test_fifty_orders_give_one_result():
    """Of the programs of qkv_heads, attention and wo_swiglu too; each by itself is a slow test."""
    check(Case(PRESETS["tiny"], S=40, Smax=128), range(1, 51))


@pytest.mark.slow
@pytest.mark.parametrize("seq_len", [1, 33, 1024, 4700, 8128])
@pytest.mark.parametrize("grid, cache", [(GRIDS[0], "bf16"), (GRIDS[1], "bfp8")])
def test_the_real_size_passes_on_the_emulator(grid, cache, seq_len):
    check(Case(S=seq_len, cache=cache), grid=grid)


@pytest.mark.simulator
@pytest.mark.slow
def test_an_uneven_shape_passes_on_the_real_ttnn():
    size = ("--shape", UNEVEN, "-S", "33", "--max-seq", "256", "--rope-delta", "-30", "--cache", "bfp8")
    done = run_cli("check", "fused_blocks", "--target", "simulator", *size)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.parametrize("seq_len", ["1024", "4700"])
def test_the_real_size_passes_on_the_real_ttnn(seq_len):
    done = run_cli("check", "fused_blocks", "--target", "simulator", "-S", seq_len, timeout=7200)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("test", CHANGES)
def test_tensors_and_context_may_change_between_calls(test):
    getattr(battery, test)("emulator", parse("fused_blocks"))


@pytest.mark.simulator
@pytest.mark.parametrize("test", CHANGES)
def test_tensors_and_context_may_change_between_calls_of_the_real_ttnn(test):
    run_battery_on_the_real_ttnn(test, "fused_blocks")


def test_a_layer_is_three_programs_that_say_what_they_hold_of_l1(monkeypatch, capsys, tmp_path):
    path = tmp_path / "blocks.json"
    size = ("--shape", "tiny", "-S", "40", "--max-seq", "128")
    code, out, err = run_main(monkeypatch, capsys, "breakdown", "fused_blocks", *size, "--l1", "--json", str(path))
    assert code == 0, err
    ops = json.loads(path.read_text())["result"]["ops"]
    assert [op["op"] for op in ops] == PROGRAMS
    for op in ops:
        cores = [tuple(core) for group in op["l1"] for core in group["cores"]]
        assert len(set(cores)) == len(cores) and len(cores) >= 1
        for group in op["l1"]:
            end = group["cbs"][-1]["address"] + group["cbs"][-1]["bytes"]
            assert end + group["free"] == L1_BYTES
            assert str(group["free"]) in out
    assert "L1 of a core: circular buffers, semaphores, and what is free" in out


def test_l1_is_the_emulators(monkeypatch, capsys):
    code, _, err = run_main(monkeypatch, capsys, "breakdown", "fused_blocks", "--l1", "--target", "simulator")
    assert code == 2 and "--l1 shows where the emulator places buffers; the simulator does not tell" in err


def test_a_shape_that_one_block_cannot_hold_says_so(emulator):
    inputs = Inputs.random(Case(parse_shape("tiny,hidden=8192,tokens=128"), S=32, Smax=160))
    with pytest.raises(UsageError, match="an MLP of 8192 x 256 at 128 tokens takes"):
        Bench.prepare(emulator, parse("fused_blocks"), inputs)


@pytest.mark.slow
@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("cache, most", [("bf16", 175), ("bfp8", 160)])
def test_the_real_layer_is_predicted_within_what_three_programs_should_take(grid, cache, most):
    with open_target("emulator", grid=grid) as target:
        bench = Bench.prepare(target, parse("fused_blocks"), Inputs.random(Case(cache=cache)))
        with target.recorder.recording() as calls:
            bench.run()
        assert [entry.label for entry in label_calls(calls)] == PROGRAMS
        counts = programs_of(target.device).counts[-len(PROGRAMS) :]
        assert sum(c.predicted.us for c in counts) < most
