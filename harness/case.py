"""One problem to solve: shape, context and seed, and the inputs they give."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Literal

import torch

from harness.distributions import DISTRIBUTIONS
from harness.errors import UsageError
from harness.opgraph_arithmetic import OpGraphArithmetic, bfp8
from harness.oracle import OracleResult, oracle_layer
from harness.shape import PRESETS, LayerShape
from harness.weights import LayerWeights

Garbage = Literal["sevens", "noise"]
WEIGHT_DTYPES = ("bfp8", "bf16")
CACHE_DTYPES = ("bf16", "bfp8")

LAST_POSITION = 1 << 23  # positions are exact in fp32 up to there, with room for the own tokens
VALUE_STD = 1.5
OUTLIER_EVERY = 256  # channels of x that have one outlier among them
DRAM_BYTES = 32 << 30  # of a p150


@dataclass(frozen=True)
class Case:
    """One layer at one context. Raises `UsageError` on what does not fit.

    layer        which layer; its weights and inputs are its own
    S, Smax      valid rows and rows of the cache
    rope_delta   own positions are `i + rope_delta + S`
    weights      how an implementation is to store the projections; cache: how the caches come
    inputs       a name of `DISTRIBUTIONS`: how weights, x and caches are drawn
    """

    shape: LayerShape = PRESETS["alpamayo2_super"]
    layer: int = 0
    S: int = 4700
    Smax: int = 8192
    rope_delta: int = 0
    weights: str = "bfp8"
    cache: str = "bf16"
    seed: int = 0
    inputs: str = "normal"

    def __post_init__(self) -> None:
        self.shape.check_context(self.S, self.Smax)
        for name, known in (("weights", WEIGHT_DTYPES), ("cache", CACHE_DTYPES), ("inputs", DISTRIBUTIONS)):
            if getattr(self, name) not in known:
                raise UsageError(f"{name} is {getattr(self, name)!r}; it must be one of {', '.join(known)}")
        for name in ("layer", "seed"):
            if not 0 <= getattr(self, name) < 2**32:
                raise UsageError(f"{name} is {getattr(self, name)}; it must lie in 0..{2**32 - 1}")
        if not 0 <= self.S + self.rope_delta <= LAST_POSITION:
            raise UsageError(
                f"rope-delta is {self.rope_delta}; at {self.S} valid rows it must lie in "
                f"{-self.S}..{LAST_POSITION - self.S}, so that the first own position is 0 or more and exact in fp32"
            )
        parameters = sum(math.prod(dims) for dims in LayerWeights.shapes(self.shape).values())
        need = 2 * (parameters + 2 * self.Smax * self.shape.kv_dim)
        if need > DRAM_BYTES:
            raise UsageError(
                f"weights and caches of this shape take {need / 2**30:.0f} GiB in bf16; the card has {DRAM_BYTES >> 30}"
            )

    def __str__(self) -> str:
        return (
            f"layer {self.layer}, S {self.S}, Smax {self.Smax}, rope_delta {self.rope_delta}, "
            f"weights {self.weights}, cache {self.cache}, seed {self.seed}"
            + ("" if self.inputs == "normal" else f", inputs {self.inputs}")
        )


@dataclass(frozen=True, eq=False)
class Inputs:
    """Random inputs of a case, bf16: x [1, 1, T, hidden], k and v [1, n_kv, Smax, head_dim] with [0, S) valid."""

    case: Case
    weights: LayerWeights
    x: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor

    @classmethod
    def random(cls, case: Case) -> Inputs:
        """From the case's seed, layer and distribution alone; nothing is zero-initialised."""
        s, d = case.shape, DISTRIBUTIONS[case.inputs]
        gen = torch.Generator().manual_seed(case.seed * 7_919 + 31 * case.layer + 1)
        k, v = torch.randn((2, 1, s.n_kv_heads, case.Smax, s.head_dim), generator=gen)
        x = torch.randn((1, 1, s.tokens, s.hidden), generator=gen) * d.stream
        if d.outliers > 1:
            channels = torch.randperm(s.hidden, generator=gen)[: max(1, s.hidden // OUTLIER_EVERY)]
            x[..., channels] *= d.outliers
            x[:, :, 0, channels] *= 5
        k *= d.keys
        k[:, :, case.S - 1] *= d.sink
        if d.shift:
            k += torch.randn((1, s.n_kv_heads, 1, s.head_dim), generator=gen) * d.shift
        weights = LayerWeights.random(s, case.seed, case.layer, d.stream)
        return cls(case, weights, x.bfloat16(), k.bfloat16(), (v * VALUE_STD * d.stream).bfloat16())

    def caches(self, garbage: Garbage) -> tuple[torch.Tensor, torch.Tensor]:
        """K and V with every row from S on overwritten by garbage: 7.0, or NaN-free noise of std 100."""
        result = []
        for salt, cache in enumerate((self.k, self.v)):
            cache = cache.clone()
            rest = cache[:, :, self.case.S :]
            if garbage == "sevens":
                rest.fill_(7.0)
            else:
                gen = torch.Generator().manual_seed(self.case.seed * 2 + salt)
                rest.copy_(torch.randn(rest.shape, generator=gen) * 100.0)
            result.append(cache)
        return result[0], result[1]

    def oracle(self, k: torch.Tensor, v: torch.Tensor, dtype: torch.dtype = torch.float64) -> OracleResult:
        """The right answer for caches k and v, as the device holds them."""
        c = self.case
        return oracle_layer(self.x, self.weights, k, v, c.shape, c.S, c.rope_delta, dtype)

    def bar(self, k: torch.Tensor, v: torch.Tensor, queries: torch.Tensor | None = None) -> OracleResult:
        """What the op graph makes of them, by the model of its rounding; own rows as the caches hold them.

        `out` and the like are [draws, ...]: one, and more with the oracle's `queries` where tokens and heads are few.
        """
        c = self.case
        arithmetic = OpGraphArithmetic(c.weights, queries)
        got = oracle_layer(self.x, self.weights, k, v, c.shape, c.S, c.rope_delta, torch.float32, arithmetic)
        return dataclasses.replace(got, k=bfp8(got.k), v=bfp8(got.v)) if c.cache == "bfp8" else got
