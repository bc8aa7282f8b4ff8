"""From x to the queries and the own cache rows in one program: right on both targets, mapped as it claims to be."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness import battery
from harness.case import Case, Inputs
from harness.check import Bench, run_check
from harness.context import LayerContext
from harness.errors import UsageError
from harness.implementation import LayerEnv
from harness.registry import parse
from harness.shape import PRESETS, TILE, LayerShape, parse_shape
from harness.strategies import cases, shapes
from harness.targets import open_target
from layer_impls.qkv_heads import QkvHeads, plan
from tests.conftest import run_battery_on_the_real_ttnn, run_cli
from tests.test_few_pairs import FEW_PAIRS
from tests.test_fused import CHANGES, UNEVEN

GRIDS = ((11, 10), (13, 10))
TTSIM_GRID = GRIDS[1]
TWO_CORES_A_HEAD = "tiny,head_dim=128,tokens=64"
# A head a core, two tile rows in turn; then three heads for two cores, of 64 and of 128 columns.
MAPPINGS = ("tiny,tokens=64", "tiny,n_heads=120,n_kv_heads=24", "tiny,head_dim=128,n_heads=120,n_kv_heads=24,tokens=64")


def check(case: Case, schedules: range = range(1, 2), grid: tuple[int, int] = GRIDS[0]) -> None:
    with open_target("emulator", grid=grid) as target:
        result = run_check(target, parse("qkv_heads"), Inputs.random(case), schedules=schedules)
    assert result.passed, "\n".join(f"{p.name}: {p.text}" for p in result.parts if not p.passed)


@example(case=FEW_PAIRS, grid=GRIDS[0])
@given(case=cases(), grid=st.sampled_from(GRIDS))
@settings(max_examples=6)
def test_random_legal_shapes_pass_on_the_emulator(case, grid):
    check(case, grid=grid)


def test_a_token_between_two_keys_is_no_alarm():
    """Most of the error is one token's, in the op graph's model at another token."""
    check(Case(LayerShape(128, 384, 3, 3, 64, 64), layer=60, S=1, Smax=160, seed=4, inputs="large_keys"))


@pytest.mark.parametrize("shape", MAPPINGS)
def test_each_way_to_map_heads_passes_on_the_emulator(shape):
    check(Case(parse_shape(shape), S=40, Smax=128))


@pytest.mark.parametrize("shape", [pytest.param("tiny", marks=pytest.mark.slow), TWO_CORES_A_HEAD])
def test_fifty_orders_give_one_result(shape):
    check(Case(parse_shape(shape), S=40, Smax=128), range(1, 51))


@pytest.mark.slow
@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("weights, cache", [("bfp8", "bf16"), ("bf16", "bfp8")])
def test_the_real_size_passes_on_the_emulator(grid, weights, cache):
    check(Case(weights=weights, cache=cache), grid=grid)


@pytest.mark.simulator
def test_an_uneven_shape_passes_on_the_real_ttnn():
    size = ("--shape", UNEVEN, "-S", "33", "--max-seq", "256", "--rope-delta", "-30")
    done = run_cli("check", "qkv_heads", "--target", "simulator", "--cache", "bfp8", *size)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.simulator
@pytest.mark.slow
def test_the_real_size_passes_on_the_real_ttnn():
    done = run_cli("check", "qkv_heads", "--target", "simulator", "-S", "64", "--max-seq", "192", timeout=3600)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("test", CHANGES)
def test_tensors_and_context_may_change_between_calls(test):
    getattr(battery, test)("emulator", parse("qkv_heads"), Case(parse_shape(TWO_CORES_A_HEAD), S=40, Smax=128))


@pytest.mark.simulator
@pytest.mark.slow  # tests/test_fused_blocks.py does so, with one core a head
@pytest.mark.parametrize("test", CHANGES)
def test_tensors_and_context_may_change_between_calls_of_the_real_ttnn(test):
    run_battery_on_the_real_ttnn(test, "qkv_heads", TWO_CORES_A_HEAD)


def written(target: Any, inputs: Inputs) -> list[torch.Tensor]:
    """The queries and both caches, as the program leaves them."""
    bench = Bench.prepare(target, parse("qkv_heads"), inputs)
    assert isinstance(bench.implementation, QkvHeads)
    q = bench.implementation._queries(inputs.case.layer, bench.x, bench.k, bench.v)
    return [bench.read(tensor) for tensor in (q, bench.k, bench.v)]


@pytest.mark.simulator
@pytest.mark.parametrize(
    "shape, weights, cache",
    [
        pytest.param("small,tokens=96", "bfp8", "bfp8", id="small, three tile rows"),
        pytest.param("alpamayo2_super", "bfp8", "bf16", id="real size", marks=pytest.mark.slow),
        pytest.param("alpamayo2_super", "bf16", "bfp8", id="real size, bf16 weights", marks=pytest.mark.slow),
    ],
)
def test_it_gives_the_bits_of_the_real_ttnn(shape, weights, cache):
    inputs = Inputs.random(Case(parse_shape(shape), S=100, Smax=256, weights=weights, cache=cache))
    with open_target("simulator") as target:
        real = written(target, inputs)
        target.exit_code = 0
    with open_target("emulator", grid=TTSIM_GRID) as target:
        ours = written(target, inputs)
    assert all(torch.equal(a, b) for a, b in zip(real, ours, strict=True))


@given(shape=shapes(), grid=st.sampled_from(GRIDS), heads=st.integers(1, 40))
@settings(max_examples=25)
def test_every_column_of_a_head_has_one_core(shape, grid, heads):
    shape = LayerShape(shape.tokens, shape.hidden, shape.n_kv_heads * heads, shape.n_kv_heads, shape.head_dim)
    with open_target("emulator", grid=grid) as target:
        p = plan(target.ttnn, target.device, shape)
    work = sorted((head, share.part) for share in p.shares for head in share.heads)
    assert work == [(head, part) for head in range(shape.n_heads + 2 * shape.n_kv_heads) for part in range(p.parts)]
    by_core = {share.core: share for share in p.shares}
    assert len(by_core) == len(p.shares) and {*by_core, *p.leaders} <= set(p.cores.cores)
    for share in p.shares:
        partner = by_core[share.partner]
        assert partner.heads == share.heads and partner.part == (1 - share.part if p.parts > 1 else 0)


@pytest.mark.parametrize("grid", GRIDS)
def test_the_real_shape_has_two_cores_a_head_next_to_their_banks(grid):
    with open_target("emulator", grid=grid) as target:
        p = plan(target.ttnn, target.device, LayerShape())
        env_of = LayerContext(target.ttnn, target.device, LayerShape(), 8192)
        block = parse("qkv_heads").build(LayerEnv(target.ttnn, target.device, LayerShape(), env_of))
        assert isinstance(block, QkvHeads)
        columns = [block._columns(head, part) for head in range(32) for part in (0, 1)]
    assert len(p.shares) == 64 and not {share.core for share in p.shares} & set(p.leaders)
    assert [[share.bank for share in p.shares].count(bank) for bank in range(8)] == [8] * 8
    assert sorted(sum(columns, [])) == list(range(LayerShape().qkv_dim // TILE))
    assert columns[3] == [5, 7], "the second half of head 1: a tile of each rotary half"


def test_a_hidden_that_l1_cannot_hold_says_so(emulator):
    shape = parse_shape("tiny,hidden=8192,tokens=128")
    env = LayerEnv(emulator.ttnn, emulator.device, shape, LayerContext(emulator.ttnn, emulator.device, shape, 160))
    with pytest.raises(UsageError, match="hidden 8192 at 128 tokens: x and what else a core of qkv_heads holds take"):
        parse("qkv_heads").build(env)


@pytest.mark.parametrize("grid", GRIDS)
def test_it_is_faster_than_its_weights_from_anywhere(grid):
    """The stream of the real shape takes 13.4 us at 500 GB/s and 19.4 at 344; all else fits into what remains to 25."""
    with open_target("emulator", grid=grid) as target:
        bench = Bench.prepare(
            target, parse("qkv_heads"), Inputs.random(Case(PRESETS["alpamayo2_super"], S=64, Smax=192))
        )
        block = bench.implementation
        assert isinstance(block, QkvHeads) and target.programs
        block._queries(0, bench.x, bench.k, bench.v)
        assert target.programs.counts[-1].predicted.us < 25
