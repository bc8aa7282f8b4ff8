"""Few tokens and heads, where chance decides how large an error is: the verdict draws the bar several times."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness import verdict
from harness.calls import second_layer
from harness.case import Case, Inputs
from harness.distributions import DISTRIBUTIONS
from harness.emulator.numerics.fpu import SRC_B_BITS, cut
from harness.metrics import relative_l2
from harness.opgraph_arithmetic import PAIRS, OpGraphArithmetic, bf16, draws
from harness.oracle import Arithmetic, oracle_layer, rms_norm
from harness.shape import LayerShape
from harness.strategies import multiples

# Its next layer's error is that of three queries, which lie between two keys.
FEW_PAIRS = Case(LayerShape(32, 64, 1, 1, 64, 64), layer=1, S=1, Smax=64, inputs="large_keys")

# Its outliers, 32 values, outweigh all others, and how they are rounded decides how large x is in the output.
FEW_LARGE = Case(LayerShape(32, 192, 4, 2, 64, 160), 29, 64, 96, 579, seed=2090974966, inputs="outliers")


class RoundedOnce(OpGraphArithmetic):
    """Norms, rotary embedding and adds in fp32, their results in bf16."""

    def norm(self, x: torch.Tensor, gamma: torch.Tensor, eps: float) -> torch.Tensor:
        return bf16(rms_norm(x, gamma, eps))

    rotate = Arithmetic.rotate
    add = Arithmetic.add


class Fp32Scores(RoundedOnce):
    """Scores and sums of attention in fp32, probabilities in bf16, cut as HiFi2 cuts them."""

    def attention(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float) -> torch.Tensor:
        scores = cut(q, SRC_B_BITS) @ k.transpose(-1, -2) * scale
        p = cut(bf16(torch.exp(scores - scores.amax(-1, keepdim=True))), SRC_B_BITS)
        return p @ v / p.sum(-1, keepdim=True)


class Uncut(RoundedOnce):
    """Projections at full fidelity."""

    linear = Arithmetic.linear


class UnroundedQueries(OpGraphArithmetic):
    """Queries, keys and values stay in fp32 from the projection to the rotary embedding's result."""

    def norm(self, x: torch.Tensor, gamma: torch.Tensor, eps: float) -> torch.Tensor:
        return rms_norm(x, gamma, eps)

    def linear(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return super().linear(bf16(x), w)

    rotate = Arithmetic.rotate


@st.composite
def few_pairs(draw: st.DrawFn) -> Case:
    """One or two tiles of tokens, one to four heads."""
    n_kv_heads, tokens = draw(st.integers(1, 2)), draw(multiples(32, 64))
    shape = LayerShape(
        tokens, draw(multiples(64, 256)), n_kv_heads * draw(st.integers(1, 2)), n_kv_heads, 64, draw(multiples(64, 256))
    )
    Smax = tokens + draw(multiples(32, 96))
    S = draw(st.sampled_from((1, 2, 32, Smax - tokens)))
    return Case(
        shape,
        draw(st.integers(0, 63)),
        min(S, Smax - tokens),
        Smax,
        draw(st.integers(0, 4000)),
        draw(st.sampled_from(("bfp8", "bf16"))),
        seed=draw(st.integers(0, 2**31)),
        inputs=draw(st.sampled_from(sorted(DISTRIBUTIONS))),
    )


def failures(case: Case, arithmetic: type[OpGraphArithmetic]) -> list[str]:
    """What the verdict says of a layer of that arithmetic."""
    inputs = Inputs.random(case)
    k, v, weights = inputs.k, inputs.v, arithmetic(case.weights)
    got = oracle_layer(inputs.x, inputs.weights, k, v, case.shape, case.S, case.rope_delta, torch.float32, weights)
    parts = verdict.layer(inputs, k, v, bf16(got.out), bf16(got.k), bf16(got.v))
    return [f"{arithmetic.__name__}: {part.name}: {part.failure}" for part in parts if not part.passed]


RIGHT = (RoundedOnce, Fp32Scores, Uncut, UnroundedQueries)


@example(case=FEW_LARGE)
@given(case=few_pairs())
@settings(max_examples=10)
def test_right_arithmetic_passes(case):
    assert [line for arithmetic in RIGHT for line in failures(case, arithmetic)] == []


@pytest.mark.slow
@given(case=few_pairs())
@settings(max_examples=500)
def test_right_arithmetic_passes_five_hundred_times(case):
    assert [line for arithmetic in RIGHT for line in failures(case, arithmetic)] == []


def test_the_real_shape_is_drawn_once_and_the_smallest_often():
    assert draws(PAIRS) == 1 == draws(2 * PAIRS) and draws(PAIRS // 2) == 4 and draws(32) == 32


def test_draws_differ_where_few_queries_make_up_the_error():
    first = Inputs.random(FEW_PAIRS)
    k, v = first.caches("sevens")
    inputs = dataclasses.replace(second_layer(first)[1], x=first.x)
    want = inputs.oracle(k, v)
    alone, bar = inputs.bar(k, v).out, inputs.bar(k, v, want.q).out
    assert torch.equal(bar[:1], alone), "the first draw is the op graph's own"
    errors = sorted(relative_l2(draw, want.out) for draw in bar)
    assert errors[-1] > 2 * errors[len(errors) // 2], errors
