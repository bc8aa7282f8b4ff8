"""Kernels that stream weights in bank order: the layer with them is right, and the order is what it claims to be."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import battery
from harness.case import Case, Inputs
from harness.check import Bench, run_check
from harness.context import LayerContext
from harness.costs.chip import parse_chip
from harness.dtypes import to_device
from harness.emulator.programs import programs_of
from harness.errors import UsageError
from harness.implementation import LayerEnv
from harness.registry import parse
from harness.shape import PRESETS, TILE, LayerShape, parse_shape
from harness.strategies import cases
from harness.targets import open_target
from layer_impls._split_linear import SplitLinear, in_bank_order, share_starts
from layer_impls._weights import bank_cores, deal, tiles_of, to_banks
from tests.conftest import run_battery_on_the_real_ttnn, run_cli
from tests.test_fused import UNEVEN

STREAMED = ("swiglu", "linear_residual", "wo_swiglu")
# The last has the kernels' pieces of both others; these need not be looked at as closely every time.
EACH = [*(pytest.param(spec, marks=pytest.mark.slow) for spec in STREAMED[:-1]), STREAMED[-1]]
GRIDS = ((11, 10), (13, 10))


def check(spec: str, case: Case, schedules: range = range(1, 2), grid: tuple[int, int] = GRIDS[0]) -> None:
    with open_target("emulator", grid=grid) as target:
        result = run_check(target, parse(spec), Inputs.random(case), schedules=schedules)
    assert result.passed, "\n".join(f"{p.name}: {p.text}" for p in result.parts if not p.passed)


@given(case=cases(), spec=st.sampled_from(STREAMED), grid=st.sampled_from(GRIDS))
@settings(max_examples=6)
def test_random_legal_shapes_pass_on_the_emulator(case, spec, grid):
    check(spec, case, grid=grid)


@pytest.mark.slow
@pytest.mark.parametrize("spec", STREAMED)
def test_fifty_orders_give_one_result(spec):
    check(spec, Case(PRESETS["tiny"], S=40, Smax=128), range(1, 51))


@pytest.mark.parametrize("spec", EACH)
def test_a_tile_of_everything_and_four_rows_pass_on_the_emulator(spec):
    smallest = LayerShape(tokens=32, hidden=32, n_heads=1, n_kv_heads=1, head_dim=64, inter=32)
    check(spec, Case(smallest, S=40, Smax=128))
    check(spec, Case(parse_shape("tiny,tokens=128,hidden=160,inter=352"), S=40, Smax=256))


@pytest.mark.simulator
@pytest.mark.parametrize(
    "spec, weights",
    [
        pytest.param("linear_residual", "bf16", marks=pytest.mark.slow),
        pytest.param("swiglu", "bfp8", marks=pytest.mark.slow),
        ("wo_swiglu", "bf16"),
    ],
)
def test_an_uneven_shape_passes_on_the_real_ttnn(spec, weights):
    size = ("--shape", UNEVEN, "-S", "33", "--max-seq", "256", "--weights", weights)
    done = run_cli("check", spec, "--target", "simulator", *size)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("spec", STREAMED)
def test_the_real_size_passes_on_the_emulator(spec):
    check(spec, Case())


def kernels_output(target: Any, spec: str, inputs: Inputs) -> torch.Tensor:
    """What the kernel alone gives for x, and for an o that is drawn."""
    bench = Bench.prepare(target, parse(spec), inputs)
    shape, layer, block = inputs.case.shape, inputs.case.layer, bench.implementation
    o = torch.randn(1, 1, shape.tokens, shape.q_dim, generator=torch.Generator().manual_seed(3)).bfloat16()
    o = to_device(target.ttnn, target.device, o, "bf16")
    calls = {
        "swiglu": lambda: block._mlp(layer, bench.x, None),
        "linear_residual": lambda: block._out_projection(layer, bench.x, o),
        "wo_swiglu": lambda: block._rest(layer, bench.x, o),
    }
    return bench.read(calls[spec]())


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.parametrize("spec", STREAMED)
def test_the_bits_of_the_real_ttnn_at_the_real_size(spec):
    inputs = Inputs.random(Case(S=64, Smax=192))
    with open_target("simulator") as target:
        real = kernels_output(target, spec, inputs)
        target.exit_code = 0
    with open_target("emulator", grid=GRIDS[1]) as target:
        assert torch.equal(kernels_output(target, spec, inputs), real)


@pytest.mark.parametrize("spec", STREAMED)
def test_layers_tensors_and_context_may_change_between_calls_on_the_emulator(spec):
    battery.test_moved_tensors_and_context("emulator", parse(spec))


@pytest.mark.simulator
@pytest.mark.parametrize("spec", STREAMED)
def test_layers_tensors_and_context_may_change_between_calls_on_the_real_ttnn(spec):
    run_battery_on_the_real_ttnn("test_moved_tensors_and_context", spec)


@pytest.mark.parametrize("spec", EACH)
def test_a_trace_follows_the_context_on_the_emulator(spec):
    battery.test_trace("emulator", parse(spec))


@pytest.mark.parametrize("spec", EACH)
def test_seven_banks_pass_on_the_emulator(spec):
    """Of a p100a; an odd number of partial results takes a zero."""
    with open_target("emulator", chip=parse_chip("p100a")) as target:
        case = Case(parse_shape("tiny,inter=416,hidden=288"), S=40, Smax=128)
        assert run_check(target, parse(spec), Inputs.random(case)).passed


@pytest.mark.parametrize(("spec", "ops"), [("swiglu", 14), ("linear_residual", 18), ("wo_swiglu", 12)])
def test_a_program_replaces_ops(emulator, spec, ops):
    bench = Bench.prepare(emulator, parse(spec), Inputs.random(Case(PRESETS["tiny"], S=40, Smax=128)))
    with emulator.recorder.recording() as calls:
        bench.run()
    assert len(calls) == ops and [call.name for call in calls].count("generic_op") == 1


def bank_tiles(target: Any, tensor: Any, bank: int) -> torch.Tensor:
    """The tiles of a tensor of one tile a page that lie in a bank, in their order there."""
    n_banks = target.device.dram_grid_size().x
    return target.ttnn.to_torch(tensor).reshape(-1, TILE, TILE)[bank::n_banks]


@given(data=st.data(), grid=st.sampled_from(GRIDS), column_tiles=st.sampled_from([0, 2]))
@settings(max_examples=10)
def test_every_tile_of_a_weight_lies_where_its_core_reads_it(data, grid, column_tiles):
    tokens, k, n = (TILE * data.draw(st.integers(1, most)) for most in (4, 40, 30))
    ids = torch.arange(k * n // TILE**2).reshape(k // TILE, n // TILE)
    weight = ids.repeat_interleave(TILE, 0).repeat_interleave(TILE, 1).float()
    extra = -1.0 - torch.arange(k // TILE * column_tiles).reshape(k // TILE, column_tiles, 1, 1).expand(
        -1, -1, TILE, TILE
    )
    with open_target("emulator", grid=grid) as target:
        split = SplitLinear(target.ttnn, target.device, tokens, k, n, "fp32", column_tiles)
        tensor, starts = in_bank_order((split, weight, extra if column_tiles else None)), share_starts(split)
        for group in split.groups:
            tiles = bank_tiles(target, tensor, group.bank)
            for w in group.workers:
                own = [extra[group.columns[c], t, 0, 0].item() for c in w.own for t in range(column_tiles)]
                units = [ids[c, u * split.unit + i] for u in w.units for c in group.columns for i in range(split.unit)]
                want = torch.tensor([*own, *units]).float()
                share = tiles[starts[w.core] : starts[w.core] + len(want)]
                assert torch.equal(share, want.reshape(-1, 1, 1).expand_as(share))
    for what, whole in (("own", k), ("owned", n)):
        offsets = [g.columns.start if what == "own" else 0 for g in split.groups for _ in g.workers]
        ranges = [getattr(w, what) for w in split.workers]
        assert sorted(o + i for o, r in zip(offsets, ranges, strict=True) for i in r) == list(range(whole // TILE))
    for group in split.groups:
        assert sorted(u for w in group.workers for u in w.units) == list(range(n // TILE // split.unit))
    cores = [w.core for w in split.workers]
    assert len(set(cores)) == len(cores) and all(x < grid[0] and y < grid[1] for x, y in cores)


@pytest.mark.parametrize("dtype", ["bf16", "bfp8"])
def test_bank_order_keeps_the_values_of_tiles(emulator, dtype):
    weight = torch.randn(256, 192, generator=torch.Generator().manual_seed(1))
    plain = emulator.ttnn.to_torch(to_device(emulator.ttnn, emulator.device, weight, dtype))
    tiles = tiles_of(weight).reshape(-1, TILE, TILE)
    order = torch.randperm(len(tiles), generator=torch.Generator().manual_seed(2))
    parts = [order[part.start : part.stop] for part in deal(len(tiles), 8)]
    banked = to_banks(emulator.ttnn, emulator.device, [tiles[part] for part in parts], dtype)
    for bank, part in enumerate(parts):
        assert torch.equal(bank_tiles(emulator, banked, bank), tiles_of(plain).reshape(-1, TILE, TILE)[part])


@pytest.mark.parametrize("grid", GRIDS)
def test_bank_order_of_the_real_shape_takes_no_more_memory(grid):
    s = LayerShape()
    with open_target("emulator", grid=grid) as target:
        for k, n, columns in ((s.q_dim, s.hidden, 0), (s.inter, s.hidden, 2 * s.hidden // TILE)):
            split = SplitLinear(target.ttnn, target.device, s.tokens, k, n, "bfp8", columns)
            starts = share_starts(split)
            fullest = max(
                starts[w.core] + len(w.own) * columns + len(w.units) * split.unit * len(g.columns)
                for g in split.groups
                for w in g.workers
            )
            tiles = k * n // TILE**2 + k // TILE * columns
            assert tiles <= 8 * fullest <= 1.03 * tiles


def test_the_cores_of_a_bank_are_in_its_row():
    with open_target("emulator") as target:
        cores = bank_cores(target.ttnn, target.device)
        rows = target.device.worker_core_from_logical_core
        # of NoC 0, harness/emulator/native/machine/timing.h
        assert [{rows(target.ttnn.CoreCoord(*core)).y for core in own} for own in cores] == [
            {11}, {2}, {9}, {5}, {11}, {3}, {8}, {6}
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "shape", "message"),
    [
        ("swiglu", "tiny,hidden=8192,tokens=128", "an MLP of 8192 x 256 at 128 tokens takes"),
        ("linear_residual", "tiny,n_heads=512,head_dim=128,tokens=128", "wo of 65536 x 128 at 128 tokens takes"),
        *((spec, "tiny,tokens=160", "tokens is 160; a linear .* takes 128 at most") for spec in STREAMED),
        ("wo_swiglu", "tiny,hidden=8192,tokens=128", "128 x 8192 of wo and an MLP of 8192 x 256 at 128 tokens takes"),
    ],
)
def test_a_shape_that_a_core_cannot_hold_says_so(emulator, spec, shape, message):
    shape = parse_shape(shape)
    env = LayerEnv(emulator.ttnn, emulator.device, shape, LayerContext(emulator.ttnn, emulator.device, shape, 192))
    with pytest.raises(UsageError, match=message):
        parse(f"{spec}:matmul=default,attn=standard").build(env)


@pytest.mark.slow
@pytest.mark.parametrize("grid", GRIDS)
def test_weights_stream_at_nearly_the_best_rate(grid):
    """Of the 500 GB/s that readers next to their banks get, 9 in 10, launch included; readers anywhere get 344."""
    with open_target("emulator", grid=grid) as target:
        bench = Bench.prepare(target, parse("swiglu"), Inputs.random(Case(S=64, Smax=192)))
        bench.run()
        assert programs_of(target.device).counts[-1].predicted.dram_gb_s > 0.9 * 500
