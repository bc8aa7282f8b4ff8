"""The layer in one program: right as a whole, on both targets, whatever changes between its calls."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import battery
from harness.case import Case, Inputs
from harness.check import Bench, CheckResult, run_check
from harness.context import LayerContext
from harness.emulator.memory import L1_BYTES
from harness.emulator.programs import programs_of
from harness.errors import UsageError
from harness.implementation import LayerEnv
from harness.published import label_calls
from harness.registry import parse
from harness.shape import PRESETS, parse_shape
from harness.strategies import cases
from harness.targets import Target, open_target
from layer_impls import _layer_plan
from layer_impls._l1 import Use, share
from layer_impls._layer_plan import QKV_WEIGHTS, WO_WEIGHTS, plan_layer
from layer_impls._program import Shared
from layer_impls.fused_layer import FusedLayer
from tests.conftest import run_battery_on_the_real_ttnn, run_cli
from tests.test_cli import run_main
from tests.test_fused import CHANGES, UNEVEN

GRIDS = ((11, 10), (13, 10))
TINY = Case(PRESETS["tiny"], S=40, Smax=128)
# A head a core, and two; one and several tile rows; a norm without a leader of its own for each core of a bank.
MAPPINGS = {
    "64 tokens": Case(parse_shape("tiny,tokens=64"), S=1, Smax=128),
    "128 tokens, bfp8 cache": Case(parse_shape("tiny,tokens=128"), S=57, Smax=256, cache="bfp8"),
    "two cores a head": Case(parse_shape("tiny,head_dim=128,tokens=64"), S=33, Smax=128, rope_delta=-33),
    "bf16 weights": Case(
        parse_shape("tiny,n_heads=4,n_kv_heads=2,tokens=64,inter=416"), S=97, Smax=192, weights="bf16"
    ),
}
TWO_CORES_A_HEAD = "tiny,head_dim=128,tokens=64"


def result(case: Case, schedules: Sequence[int] = (1,), grid: tuple[int, int] = GRIDS[0]) -> CheckResult:
    with open_target("emulator", grid=grid) as target:
        return run_check(target, parse("fused_layer"), Inputs.random(case), schedules=schedules)


def check(case: Case, schedules: Sequence[int] = (1,), grid: tuple[int, int] = GRIDS[0]) -> None:
    found = result(case, schedules, grid)
    assert found.passed, "\n".join(f"{p.name}: {p.text}" for p in found.parts if not p.passed)
    assert [entry.label for entry in label_calls(found.calls)] == ["fused_layer"]


def layer_on(target: Target, shape: str, Smax: int, spec: str = "fused_layer") -> FusedLayer:
    """As `prepare` finds it, without weights."""
    s = parse_shape(shape)
    layer = parse(spec).build(
        LayerEnv(target.ttnn, target.device, s, LayerContext(target.ttnn, target.device, s, Smax))
    )
    assert isinstance(layer, FusedLayer)
    return layer


@pytest.mark.parametrize("grid", [GRIDS[0], pytest.param(GRIDS[1], marks=pytest.mark.slow)])
def test_the_smallest_layer_is_one_program(grid):
    check(TINY, grid=grid)


# Each has kernels of its own to compile, so one stands for all by default.
@pytest.mark.parametrize(
    "name", [name if name == "two cores a head" else pytest.param(name, marks=pytest.mark.slow) for name in MAPPINGS]
)
def test_each_way_to_map_a_layer_passes_on_the_emulator(name):
    check(MAPPINGS[name])


@pytest.mark.slow
def test_random_legal_shapes_pass_on_the_emulator():
    mapped = []

    @given(case=cases(), grid=st.sampled_from(GRIDS))
    @settings(max_examples=8)
    def run(case, grid):
        try:
            check(case, grid=grid)
        except UsageError:
            return
        mapped.append(case)

    run()
    assert mapped, "no shape was mapped"


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["tiny", TWO_CORES_A_HEAD])
def test_fifty_orders_give_one_result(shape):
    check(Case(parse_shape(shape), S=40, Smax=128), range(1, 51))


@pytest.mark.slow
@pytest.mark.parametrize("seq_len", [1, 33, 1024, 4700, 8128])
@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("cache", ["bf16", "bfp8"])
def test_the_real_size_passes_on_the_emulator(cache, grid, seq_len):
    check(Case(S=seq_len, cache=cache), grid=grid)


@pytest.mark.simulator
@pytest.mark.slow
def test_an_uneven_shape_passes_on_the_real_ttnn():
    size = ("--shape", UNEVEN, "-S", "33", "--max-seq", "256", "--rope-delta", "-30", "--cache", "bfp8")
    done = run_cli("check", "fused_layer", "--target", "simulator", *size, timeout=3600)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.parametrize("seq_len", ["1024", "4700"])
def test_the_real_size_passes_on_the_real_ttnn(seq_len):
    done = run_cli("check", "fused_layer", "--target", "simulator", "-S", seq_len, timeout=7200)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("test", CHANGES)
def test_tensors_and_context_may_change_between_calls(test):
    getattr(battery, test)("emulator", parse("fused_layer"))


@pytest.mark.simulator
@pytest.mark.parametrize("test", CHANGES)
def test_tensors_and_context_may_change_between_calls_of_the_real_ttnn(test):
    run_battery_on_the_real_ttnn(test, "fused_layer")


def assert_right(bench: Bench) -> torch.Tensor:
    """Run once and judge output, keys and values by the oracle; returns the output."""
    wrong: list[str] = []
    out = battery.judged(bench, "layer", wrong)
    assert not wrong, wrong
    return out


def test_layers_in_a_row_share_a_program_whatever_each_has_of_its_own(emulator):
    """The second layer takes the first's output, weights and caches of its own and another context; then the first
    again, to the bit: nothing of a call, DEST's bank included, is left for the next."""
    first = Inputs.random(TINY)
    one = Bench.prepare(emulator, parse("fused_layer"), first)
    out = one.run()
    chained = Inputs.random(dataclasses.replace(TINY, layer=1, S=57, rope_delta=900))
    chained = dataclasses.replace(chained, x=one.read(out))
    two = one.beside(chained, out, *one.upload_caches(*chained.caches("noise")))
    for _ in range(2):
        two.context.set_context(chained.case.S, chained.case.rope_delta)
        assert_right(two)
        one.context.set_context(first.case.S, first.case.rope_delta)
        assert torch.equal(assert_right(one), chained.x)
    assert len(programs_of(emulator.device).cache) == 1, "each later call was a hit"


def test_caches_of_another_length_get_a_program_of_their_own(emulator):
    first = Inputs.random(TINY)
    bench = Bench.prepare(emulator, parse("fused_layer"), first)
    before = assert_right(bench)
    longer = dataclasses.replace(Inputs.random(dataclasses.replace(TINY, Smax=320, S=250)), weights=first.weights)
    bench.context.set_context(longer.case.S, longer.case.rope_delta, longer.case.Smax)
    assert_right(bench.elsewhere(longer))
    bench.context.set_context(TINY.S, TINY.rope_delta, TINY.Smax)
    assert torch.equal(assert_right(bench), before)
    assert isinstance(bench.implementation, FusedLayer)
    assert set(bench.implementation.layer_programs) == {(128, 1), (320, 1)}


def test_it_says_what_it_holds_of_l1(monkeypatch, capsys, tmp_path):
    path = tmp_path / "layer.json"
    size = ("--shape", "tiny", "-S", "40", "--max-seq", "128")
    code, out, err = run_main(monkeypatch, capsys, "breakdown", "fused_layer", *size, "--l1", "--json", str(path))
    assert code == 0, err
    (op,) = json.loads(path.read_text())["result"]["ops"]
    assert op["op"] == "fused_layer"
    (group,) = op["l1"]  # all cores hold the same, so that any may send to any
    assert len({tuple(core) for core in group["cores"]}) == 110
    assert all(a["address"] + a["bytes"] <= b["address"] for a, b in pairwise(group["cbs"]))
    assert sum(len(cb["indices"]) for cb in group["cbs"]) > len(group["cbs"]), "buffers that share memory"
    end = group["cbs"][-1]["address"] + group["cbs"][-1]["bytes"]
    assert end + group["free"] == L1_BYTES and str(group["free"]) in out
    assert "L1 of a core: circular buffers, semaphores, and what is free" in out


NOT_MAPPED = {
    (
        "tiny,n_heads=96,n_kv_heads=96",
        128,
    ): "a core for each of 96 KV heads; 1 for the norm and 16 to read K and V leave 93 of 110",
    (
        "tiny,n_heads=100,n_kv_heads=5",
        128,
    ): "cores for the norm that nothing else is for, 1 of 110; those that .* go to leave 0",
    (
        "alpamayo2_super",
        16384,
    ): r"hidden 1536 and a cache of 16384 rows in one program takes \d+ B of a core's L1, and at most",
}


@pytest.mark.parametrize("shape, Smax", NOT_MAPPED)
def test_a_layer_that_cannot_be_mapped_says_why(emulator, shape, Smax):
    with pytest.raises(UsageError, match=NOT_MAPPED[shape, Smax]) as refused:
        layer_on(emulator, shape, Smax)
    assert "\n" not in str(refused.value) and str(refused.value).endswith("; use fused_blocks")


def test_a_wider_grid_maps_what_a_smaller_one_cannot():
    with open_target("emulator", grid=GRIDS[1]) as target:
        for shape in ("tiny,n_heads=96,n_kv_heads=96", "tiny,n_heads=100,n_kv_heads=5"):
            layer_on(target, shape, 128)


def test_a_cache_too_long_for_a_prepared_layer_says_so(emulator):
    layer = layer_on(emulator, "tiny", 128)
    with pytest.raises(UsageError, match="a cache of 262144 rows in one program takes .* use fused_blocks"):
        plan_layer(layer, 1 << 18)


# x beside the weights that it is multiplied by; what other cores send of wo's product beside wo.
@pytest.mark.parametrize("index, other", [(QKV_WEIGHTS, 0), (WO_WEIGHTS, 53)])
def test_memory_shared_by_buffers_in_use_at_once_is_found(monkeypatch, index, other):
    """The planner says when a buffer is in use; where it is wrong, the emulator says so."""

    def wrong_share(uses: Iterable[Use], budget: int) -> list[Shared]:
        places = share(uses, budget)
        moved = next(cb for place in places for cb in place.cbs if cb.index == other)
        kept = [Shared(tuple(cb for cb in place.cbs if cb != moved), place.bytes) for place in places]
        at = next(i for i, place in enumerate(kept) if any(cb.index == index for cb in place.cbs))
        kept[at] = Shared((*kept[at].cbs, moved), kept[at].bytes)
        assert moved.bytes <= kept[at].bytes
        return [place for place in kept if place.cbs]

    monkeypatch.setattr(_layer_plan, "share", wrong_share)
    failed = [part for part in result(TINY).parts if not part.passed]
    assert any("race: " in part.text for part in failed), failed


@pytest.mark.slow
@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("cache", ["bf16", "bfp8"])
def test_one_program_is_predicted_faster_than_three(grid, cache):
    us = {}
    for name in ("fused_layer", "fused_blocks"):
        with open_target("emulator", grid=grid) as target:
            bench = Bench.prepare(target, parse(name), Inputs.random(Case(cache=cache)))
            before = len(programs_of(target.device).counts)
            bench.run()
            us[name] = sum(counts.predicted.us for counts in programs_of(target.device).counts[before:])
    assert us["fused_layer"] < us["fused_blocks"], us
