"""The fused kernels against the oracle, on the emulator and on the real ttnn, and with tensors that move."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import battery
from harness.case import Case, Inputs
from harness.check import Bench, run_check
from harness.context import LayerContext
from harness.emulator.ttnn.types import CoreCoord
from harness.errors import UsageError
from harness.implementation import LayerEnv
from harness.published import label_calls
from harness.registry import parse
from harness.shape import PRESETS, TILE, parse_shape
from harness.strategies import cases
from harness.targets import open_target
from harness.weights import LayerWeights
from layer_impls.norm_residual import place
from tests.conftest import run_battery_on_the_real_ttnn, run_cli

FUSED = ("norm_residual", "heads_rope", "partly_fused")
CHANGES = ("test_moved_tensors_and_context", "test_trace")  # of the battery
UNEVEN = "small,tokens=96,hidden=352,n_heads=6,n_kv_heads=2,head_dim=128,inter=416"


def assert_passes_emulated(spec: str, case: Case) -> None:
    with open_target("emulator") as target:
        result = run_check(target, parse(spec), Inputs.random(case))
    assert result.passed, "\n".join(f"{p.name}: {p.text}" for p in result.parts if not p.passed)


@given(case=cases(), spec=st.sampled_from(FUSED))
@settings(max_examples=6)
def test_random_legal_shapes_pass_on_the_emulator(case, spec):
    assert_passes_emulated(spec, case)


def test_the_real_size_passes_on_the_emulator():
    assert_passes_emulated("partly_fused", Case())


def test_a_wide_norm_passes_on_the_emulator():
    # 129 tiles in a row: 25 cores hold five, one holds four, one none.
    shape = parse_shape("tiny,hidden=4128")
    assert place(CoreCoord(11, 10), 1, 129).tiles_per_core == 5
    assert_passes_emulated("norm_residual", Case(shape, S=40, Smax=128))


@pytest.mark.simulator
@pytest.mark.slow
def test_an_uneven_shape_passes_on_the_real_ttnn():
    size = ("--shape", UNEVEN, "-S", "33", "--max-seq", "256", "--rope-delta", "-30")
    done = run_cli("compare", "norm_residual", "heads_rope", "--target", "simulator", "--cache", "bfp8", *size)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.simulator
@pytest.mark.slow
def test_the_real_size_passes_on_the_real_ttnn():
    done = run_cli("check", "partly_fused", "--target", "simulator", "--seq-len", "4700", "--max-seq", "8192")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("test", CHANGES)
def test_tensors_and_context_may_change_on_the_emulator(test):
    getattr(battery, test)("emulator", parse("partly_fused"))


@pytest.mark.simulator
@pytest.mark.parametrize("test", CHANGES)
def test_tensors_and_context_may_change_on_the_real_ttnn(test):
    run_battery_on_the_real_ttnn(test, "partly_fused")


def test_programs_are_called_after_their_kernels(emulator):
    bench = Bench.prepare(emulator, parse("partly_fused"), Inputs.random(Case(PRESETS["tiny"], S=40, Smax=128)))
    with emulator.recorder.recording() as calls:
        bench.run()
    labels = [entry.label for entry in label_calls(calls) if entry.call.name == "generic_op"]
    assert labels == ["norm_residual", "heads_rope", "norm_residual"]


def run_chain(target, spec: str) -> tuple[list[torch.Tensor], list[int]]:
    """Outputs and numbers of ops of three layers in a row, of the first again, and of the second on another x."""
    inputs = Inputs.random(Case(PRESETS["tiny"], S=40, Smax=128))
    bench = Bench.prepare(target, parse(spec), inputs)
    for layer in (1, 2):
        bench.implementation.prepare(layer, LayerWeights.random(inputs.case.shape, 0, layer))
    outputs, ops, x = [], [], bench.x
    for layer, source in ((0, "before"), (1, "before"), (2, "before"), (0, "first"), (1, "first")):
        x = x if source == "before" else bench.x
        with target.recorder.recording() as calls:
            x = bench.implementation.layer_fn(layer, x, bench.k, bench.v)
        outputs.append(bench.read(x))
        ops.append(len(calls))
    return outputs, ops


def test_a_chain_of_layers_folds_the_last_add_into_the_next_norm(emulator):
    plain, plain_ops = run_chain(emulator, "norm_residual")
    chained, chained_ops = run_chain(emulator, "norm_residual:chain=true")
    assert all(torch.equal(a, b) for a, b in zip(plain, chained, strict=True))
    assert plain_ops == [18] * 5
    # The last layer has no next one; the fifth call is not given the output of the fourth.
    assert chained_ops == [18, 17, 17, 18, 18]


@given(
    grid=st.sampled_from([CoreCoord(11, 10), CoreCoord(13, 10), CoreCoord(8, 8)]),
    rows=st.integers(1, 4),
    tiles=st.integers(1, 300),
)
def test_every_tile_of_a_norm_has_one_core(grid, rows, tiles):
    placement = place(grid, rows, tiles)
    assert placement is not None
    cores = [core for rectangle in placement.rectangles for core in rectangle.cores]
    assert len(placement.rectangles) == rows and len(set(cores)) == len(cores)
    assert len(cores) <= rows * TILE, "a core without a row in the tile of the sums"
    assert all(0 <= x < grid.x and 0 <= y < grid.y for x, y in cores)
    held = placement.tiles_per_core * (len(cores) // rows)
    assert held >= tiles, "tiles without a core"


def test_the_real_norm_has_two_tiles_a_core():
    for grid in (CoreCoord(11, 10), CoreCoord(13, 10)):
        placement = place(grid, 2, 48)
        assert placement is not None and placement.tiles_per_core == 2
        assert [len(r.cores) for r in placement.rectangles] == [24, 24]


def test_a_norm_that_cannot_be_placed_says_so(emulator):
    assert place(CoreCoord(1, 1), 2, 4) is None
    shape = parse_shape("tiny,hidden=131072,tokens=128")
    env = LayerEnv(emulator.ttnn, emulator.device, shape, LayerContext(emulator.ttnn, emulator.device, shape, 160))
    with pytest.raises(UsageError, match="hidden 131072 at 128 tokens puts 164 tiles of a norm on a core"):
        parse("norm_residual:matmul=default").build(env)


def test_tables_too_long_for_a_core_say_so(emulator):
    shape = parse_shape("tiny,tokens=16384")
    env = LayerEnv(emulator.ttnn, emulator.device, shape, LayerContext(emulator.ttnn, emulator.device, shape, 32768))
    with pytest.raises(UsageError, match="the tables of 16384 tokens takes .* B of a core's L1"):
        parse("heads_rope:attn=standard,matmul=default").build(env)
