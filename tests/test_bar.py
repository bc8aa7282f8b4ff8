"""The bar of the verdict is the error that the op graph really makes, whatever the inputs."""

from __future__ import annotations

import pytest
import torch

from harness import verdict
from harness.bench import Bench
from harness.case import Case, Inputs
from harness.distributions import DISTRIBUTIONS
from harness.metrics import excess, fit, place, relative_l2, slices, ulp
from harness.opgraph_arithmetic import bfp8
from harness.registry import parse
from harness.shape import PRESETS
from harness.targets import open_target


def errors(inputs: Inputs, spec: str, target_name: str = "emulator") -> dict[str, tuple[float, float]]:
    """Relative L2 of the implementation and of the bar, by tensor."""
    case = inputs.case
    with open_target(target_name) as target:
        bench = Bench.prepare(target, parse(spec), inputs)
        k, v = bench.read(bench.k), bench.read(bench.v)
        out = bench.read(bench.run())[0, 0]
        rows = [bench.read(cache)[0, :, case.Smax - case.shape.tokens :] for cache in (bench.k, bench.v)]
        target.exit_code = 0
    want, bar = inputs.oracle(k, v), inputs.bar(k, v)
    x = inputs.x[0, 0].double()
    pairs = {
        "update": (out - x, bar.out - x, want.out - x),
        "K rows": (rows[0], bar.k, want.k),
        "V rows": (rows[1], bar.v, want.v),
    }
    return {name: (relative_l2(got, right), relative_l2(model, right)) for name, (got, model, right) in pairs.items()}


@pytest.mark.parametrize("inputs", DISTRIBUTIONS)
def test_the_bar_is_the_op_graphs_error(inputs):
    case = Case(PRESETS["small"], S=100, Smax=256, rope_delta=-30, inputs=inputs)
    for name, (own, bar) in errors(Inputs.random(case), "op_graph:attn=standard").items():
        assert 0.75 <= own / bar <= 1.2, (name, own, bar)


@pytest.mark.parametrize("weights, cache", [("bf16", "bf16"), ("bf16", "bfp8"), ("bfp8", "bfp8")])
def test_the_bar_follows_the_formats(weights, cache):
    case = Case(PRESETS["small"], S=100, Smax=256, rope_delta=-30, weights=weights, cache=cache)
    for name, (own, bar) in errors(Inputs.random(case), "op_graph").items():
        assert 0.75 <= own / bar <= 1.2, (name, own, bar)


@pytest.mark.simulator
def test_the_bar_is_the_error_of_the_real_ttnn():
    case = Case(PRESETS["small"], S=100, Smax=256, rope_delta=-30)
    for name, (own, bar) in errors(Inputs.random(case), "op_graph", "simulator").items():
        assert 0.75 <= own / bar <= 1.2, (name, own, bar)


def test_bfp8_is_the_host_conversion_of_ttnn():
    from harness.emulator import ttnn

    values = (torch.randn(64, 96) * torch.logspace(-3, 3, 96)).bfloat16().float()
    values[0, :16] = 0
    assert torch.equal(bfp8(values), ttnn.to_torch(ttnn.from_torch(values, ttnn.bfloat8_b)))


def test_a_better_layer_passes_and_a_worse_one_does_not():
    want = torch.randn(64, 96, dtype=torch.float64)
    noise = torch.randn(64, 96, dtype=torch.float64) * 0.01
    assert verdict.close("t", want, want, (want + noise)[None]).passed
    assert verdict.close("t", want + noise * 1.2, want, (want + noise)[None]).passed
    worse = verdict.close("t", want + noise * 1.6, want, (want + noise)[None])
    assert [a.name for a in worse.aspects if not a.passed] == ["PCC", "relative L2"]


def test_the_fit_finds_what_a_tensor_is_made_of():
    a, b = torch.randn(2, 64, 96, dtype=torch.float64)
    found = fit(0.9 * a + 1.1e-3 * b + 0.5, {"a": a, "b": b * 1e-3, "nothing": a * 0, "offset": torch.ones_like(a)})
    values = {name: c.value for name, c in found.items()}
    assert values == pytest.approx({"a": 0.9, "b": 1.1, "offset": 0.5})


def test_slices_and_places_name_the_worst():
    error = torch.zeros(64, 96)
    error[40, 70] = 3.0
    squares = {name: square.sum(0) for name, square in slices(error).items()}
    assert {name: place(s) for name, s in squares.items()} == {"token": "[40]", "channel": "[70]", "tile": "[1, 2]"}
    squares = {name: square.sum(0) for name, square in slices(torch.stack((error, error * 2))).items()}
    assert {name: place(s) for name, s in squares.items()} == {"token": "[40]", "head": "[1]", "tile": "[1, 1, 2]"}


def test_a_slice_may_have_what_a_token_may_so_far_as_one_token_makes_it_up():
    want, noise = torch.randn(2, 64, 96, dtype=torch.float64)
    bar, worse = noise * 0.01, noise * 0.01
    bar[40] *= 30
    worse[40] *= 60
    limits = {}
    for name, own in (("even", noise * 0.02), ("one token", worse)):
        part = verdict.close("t", want + own, want, (want + (noise * 0.01 if name == "even" else bar))[None])
        limits[name] = {a.name: a.passed for a in part.aspects}
    assert not limits["even"]["relative L2"] and not limits["even"]["worst tile"]
    assert limits["one token"]["relative L2"] and limits["one token"]["worst tile"]
    far = bar.clone()
    far[40] *= 5
    failed = [a.name for a in verdict.close("t", want + far, want, (want + bar)[None]).aspects if not a.passed]
    assert {"relative L2", "worst token", "worst tile"} <= set(failed)


def test_unevenness_is_none_of_equals_and_all_of_one():
    squares = torch.stack((torch.full((32,), 7.0), torch.eye(32)[3], torch.zeros(32)), dim=1).double()
    assert excess(squares).tolist() == pytest.approx([0, 1, 0]) and excess(squares[:1]).tolist() == [0, 0, 0]


def test_an_ulp_of_what_is_nearly_zero_is_that_of_a_sixteenth_of_the_rms():
    want = torch.tensor([1.0, -1.0, 1.5, 0.0], dtype=torch.float64)
    floor = 2.0 ** (-4 - 7)  # the rms is 1.03, a sixteenth of it 0.0645
    assert ulp(want).tolist() == [2.0**-7, 2.0**-7, 2.0**-7, floor]
