"""Several layers in one program of `fused_layer`: the bits of as many programs, on both targets, and in a step."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable

import pytest

from harness import battery
from harness.bench import Bench
from harness.case import Case, Inputs
from harness.emulator.programs import programs_of
from harness.errors import UsageError
from harness.registry import parse
from harness.shape import parse_shape
from layer_impls import _layer_plan
from layer_impls._l1 import Use, share
from layer_impls._layer_plan import LEAST_SLOTS, QKV, QKV_WEIGHTS, Plan
from layer_impls._program import Shared
from tests.conftest import run_battery_on_the_real_ttnn
from tests.test_cli import run_main
from tests.test_fused_layer import TINY, TWO_CORES_A_HEAD, layer_on

CHAIN = "fused_layer:layers_per_program=3"
# Circular buffers that a layer does not fill; workers without rows of K and V; banks with unequal shares.
SHAPES = {
    "tiny": TINY,
    "two cores a head": Case(parse_shape(TWO_CORES_A_HEAD), S=40, Smax=128),
    "96 tokens, bfp8 cache": Case(
        parse_shape("small,tokens=96,hidden=352,n_heads=12,n_kv_heads=2,head_dim=128,inter=416"),
        S=33,
        Smax=256,
        cache="bfp8",
    ),
    "workers without rows": Case(
        parse_shape("tiny,n_heads=4,n_kv_heads=2,tokens=64,inter=416,hidden=1312"), S=33, Smax=256
    ),
}


def as_in_calls_of_their_own(case: Case) -> None:
    battery.test_layers_in_one_call("emulator", parse(CHAIN), case)


# Each has kernels of its own to compile.
@pytest.mark.parametrize(
    "name", [name if name == "two cores a head" else pytest.param(name, marks=pytest.mark.slow) for name in SHAPES]
)
def test_layers_of_one_program_give_the_bits_of_as_many_programs(name):
    as_in_calls_of_their_own(SHAPES[name])


@pytest.mark.slow
@pytest.mark.parametrize("cache", ["bf16", "bfp8"])
@pytest.mark.parametrize("seq_len", [1, 4700])
def test_so_do_those_of_the_real_size(seq_len, cache):
    as_in_calls_of_their_own(Case(S=seq_len, cache=cache))


@pytest.mark.simulator
def test_so_do_they_on_the_real_ttnn():
    run_battery_on_the_real_ttnn("test_layers_in_one_call", CHAIN, TWO_CORES_A_HEAD)


def test_buffers_that_do_not_begin_anew_are_found(monkeypatch):
    monkeypatch.setattr(Plan, "rewound", [0, 0])
    with pytest.raises(pytest.fail.Exception, match="uninitialised-read"):
        as_in_calls_of_their_own(SHAPES["two cores a head"])


def test_wqkv_of_the_next_layer_over_the_last_weights_is_found(monkeypatch):
    """The planner says that wqkv comes while w2 is multiplied; where it does not, the emulator finds the clash."""

    def wrong_share(uses: Iterable[Use], budget: int) -> list[Shared]:
        wrong = [dataclasses.replace(use, first=QKV) if use.cb.index == QKV_WEIGHTS else use for use in uses]
        return share(wrong, budget)

    monkeypatch.setattr(_layer_plan, "share", wrong_share)
    monkeypatch.setattr(_layer_plan, "CHAINED_SLOTS", LEAST_SLOTS)  # so that they would lie together
    with pytest.raises(pytest.fail.Exception, match="race"):
        as_in_calls_of_their_own(SHAPES["two cores a head"])


@pytest.mark.parametrize("layers", [0, 17])
def test_a_number_of_layers_that_no_program_takes_is_refused(emulator, layers):
    with pytest.raises(UsageError, match=f"layers_per_program is {layers}; it must lie in 1..16"):
        layer_on(emulator, "tiny", 128, f"fused_layer:layers_per_program={layers}")


def test_a_step_takes_them_together(monkeypatch, capsys, tmp_path):
    """Three layers, two a program: the second program has one. The same velocity, and fewer launches."""
    out = tmp_path / "step.json"
    size = ("--shape", "tiny", "--layers", "3", "-S", "100", "--max-seq", "256", "--rope-delta", "0")
    impls = ("--impl", "fused_layer", "--impl", "fused_layer:layers_per_program=2")
    code, _, err = run_main(monkeypatch, capsys, "step", *size, *impls, "--no-keep", "--json", str(out))
    assert code == 0, err
    one, two = json.loads(out.read_text())["result"]["steps"]
    assert two["velocity"] == one["velocity"] and two["passed"]
    assert (one["ops"], two["ops"]) == (4, 3)
    assert two["predicted_ms"] < one["predicted_ms"]


@pytest.mark.slow
def test_a_second_layer_is_predicted_faster_than_another_program(emulator):
    bench = Bench.prepare(emulator, parse("fused_layer:layers_per_program=2"), Inputs.random(Case()))
    bench.implementation.prepare(1, bench.inputs.weights)
    caches = [(bench.k, bench.v), bench.upload_caches(*bench.inputs.caches("sevens"))]
    us = []
    for n in (1, 2):
        bench.implementation.layers_fn(0, bench.x, caches[:n])
        us.append(programs_of(emulator.device).counts[-1].predicted.us)
    assert us[1] < 2 * us[0] - 4, us
