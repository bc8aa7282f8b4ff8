"""The parts of the verdict by themselves; tests/wrong_layers/ has whole layers."""

from __future__ import annotations

import pytest
import torch

from harness import verdict
from harness.case import Case, Inputs
from harness.compare import run_compare
from harness.expected import expected
from harness.metrics import max_abs, pcc, relative_l2
from harness.registry import parse
from harness.shape import PRESETS


def test_metrics_are_not_fooled():
    x = torch.randn(64, 64)
    assert pcc(x, 2 * x) == pytest.approx(1) and relative_l2(2 * x, x) == pytest.approx(1)
    assert pcc(torch.ones(8), torch.ones(8)) == 0.0
    nan = x.clone()
    nan[0, 0] = float("nan")
    assert pcc(nan, x) == 0 and relative_l2(nan, x) == max_abs(nan, x) == float("inf")


def test_identical_sees_one_bit_and_accepts_equal_nans():
    a = torch.tensor([1.0, float("nan"), -2.0])
    assert verdict.identical("same", a, a.clone()).passed
    b = torch.tensor([1.0, float("nan"), -2.0000002])
    part = verdict.identical("other", a, b, "oops")
    assert not part.passed and "first at [2]" in part.text and "oops" in part.text


def test_nothing_passes_that_is_not_finite():
    want = torch.randn(64, 64)
    got = want.clone()
    got[3, 5] = float("inf")
    part = verdict.close("t", got, want, want + 0.01 * torch.randn(1, 64, 64))
    assert not part.passed and part.failure == "finite 1 of 4096 values are NaN or infinite, one at [3, 5]"


def test_a_failure_names_the_figures_that_failed():
    seeded = torch.Generator().manual_seed(0)
    want, noise = (torch.randn(64, 64, generator=seeded, dtype=torch.float64) for _ in range(2))
    noise *= 0.01
    part = verdict.close("t", want * 1.03 + noise, want, (want + noise)[None])
    assert part.failure.startswith("relative L2 0.03") and "scale 1.0" in part.failure and "PCC" not in part.failure
    assert part.as_dict()["aspects"]["scale"]["passed"] is False


def test_what_is_right_is_computed_once_for_all_implementations_and_anew_for_other_bits(emulator, monkeypatch):
    asked = []
    oracle = Inputs.oracle
    monkeypatch.setattr(Inputs, "oracle", lambda self, k, v: asked.append(self) or oracle(self, k, v))
    inputs = Inputs.random(Case(PRESETS["tiny"], S=40, Smax=128))
    assert run_compare(emulator, [parse("op_graph"), parse("norm_residual")], inputs).passed
    assert len(asked) == len(set(asked)) == 3, "one a call"
    k, v = inputs.caches("sevens")
    before = expected(inputs, k, v)
    assert len(asked) == 3 and expected(inputs, k.clone(), v) is before
    other = k.clone()
    other[0, 0, 7, 3] += 1
    assert not torch.equal(expected(inputs, other, v).want.out, before.want.out) and len(asked) == 4
