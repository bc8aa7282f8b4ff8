"""The attention kernel against an exact one, alone and in the layer, on the emulator and on the real ttnn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.case import Case, Inputs
from harness.check import run_check
from harness.context import LayerContext
from harness.costs.chip import P100A, P150
from harness.dtypes import to_device
from harness.errors import UsageError
from harness.implementation import LayerEnv
from harness.metrics import relative_l2
from harness.registry import parse
from harness.shape import PRESETS, TILE, LayerShape, parse_shape
from harness.strategies import cases
from harness.targets import open_target
from layer_impls import attention
from layer_impls.attention import split
from tests.conftest import run_cli, run_on_the_real_ttnn
from tests.test_fused import check_moved_tensors

REAL = PRESETS["alpamayo2_super"]
SMALL = parse_shape("small,head_dim=128,n_heads=6,n_kv_heads=3")
GRIDS = [(11, 10), (13, 10)]
# Rows that are not valid hold what spoils everything it gets near: 0 * NaN is NaN.
GARBAGE = {"bf16": float("nan"), "bfp8": 1e30}
# HiFi2 drops the lowest bit of the queries, which flattens the softmax. The op graph's attention is 0.025 away.
NEAR = 0.013


@dataclass
class Problem:
    """Queries and caches on the host, bf16; garbage in the rows that are not valid."""

    shape: LayerShape
    S: int
    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor

    @classmethod
    def random(cls, shape: LayerShape, S: int, Smax: int, cache: str = "bf16", seed: int = 0) -> Problem:
        generator = torch.Generator().manual_seed(seed)
        q = torch.randn(1, shape.n_heads, shape.tokens, shape.head_dim, generator=generator).bfloat16()
        kv = torch.randn(2, 1, shape.n_kv_heads, Smax, shape.head_dim, generator=generator) * 1.5
        kv[..., S : Smax - shape.tokens, :] = GARBAGE[cache]
        return cls(shape, S, q, *kv.bfloat16())

    def exact(self, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """[1, 1, T, q_dim], for caches as the device holds them."""
        s, Smax = self.shape, k.shape[2]
        rows = [*range(self.S), *range(Smax - s.tokens, Smax)]
        k, v = (t.double()[0, :, rows].repeat_interleave(s.group, 0) for t in (k, v))
        weights = torch.softmax(self.q[0].double() @ k.transpose(-1, -2) * s.head_dim**-0.5, -1)
        return (weights @ v).transpose(0, 1).reshape(1, 1, s.tokens, s.q_dim)


@dataclass
class Attending:
    """The attention of one prepared implementation."""

    target: Any
    shape: LayerShape
    Smax: int
    cache: str = "bf16"

    def __post_init__(self) -> None:
        self.context = LayerContext(self.target.ttnn, self.target.device, self.shape, self.Smax)
        env = LayerEnv(self.target.ttnn, self.target.device, self.shape, self.context, cache_dtype=self.cache)
        self.implementation = parse("attention").build(env)

    def run(self, problem: Problem) -> tuple[torch.Tensor, torch.Tensor]:
        """What it gives, and the exact result."""
        ttnn, device = self.target.ttnn, self.target.device
        self.context.set_context(problem.S, 0)
        q = to_device(ttnn, device, problem.q, "bf16")
        k, v = (to_device(ttnn, device, t, self.cache) for t in (problem.k, problem.v))
        out = ttnn.to_torch(self.implementation._attend(q, k, v))
        return out, problem.exact(ttnn.to_torch(k), ttnn.to_torch(v))


def assert_near(got: torch.Tensor, want: torch.Tensor, limit: float = NEAR) -> None:
    assert got.isfinite().all()
    assert relative_l2(got.double(), want) < limit


@given(case=cases(), chip=st.sampled_from([P150, P100A]), grid=st.sampled_from(GRIDS))
@settings(max_examples=5)
def test_random_legal_shapes(case, chip, grid):
    with open_target("emulator", grid=grid, chip=chip) as target:
        problem = Problem.random(case.shape, case.S, case.Smax, case.cache, case.seed)
        assert_near(*Attending(target, case.shape, case.Smax, case.cache).run(problem))


@pytest.mark.parametrize("cache", ["bf16", pytest.param("bfp8", marks=pytest.mark.slow)])
def test_one_program_serves_every_number_of_valid_rows(cache):
    with open_target("emulator") as target:
        attending = Attending(target, REAL, 8192, cache)
        first = None
        for S in (1, 33, 1000, 4700, 8128, 1):
            got, want = attending.run(Problem.random(REAL, S, 8192, cache))
            assert_near(got, want)
            first = got if first is None else first
        assert torch.equal(got, first), "something of the calls between stays behind"
        assert len(attending.implementation.attention_programs) == 1


@pytest.mark.parametrize("cache", ["bf16", pytest.param("bfp8", marks=pytest.mark.slow)])
def test_the_layer_at_its_real_size(cache):
    with open_target("emulator") as target:
        result = run_check(target, parse("attention"), Inputs.random(Case(cache=cache)))
    assert result.passed, "\n".join(f"{p.name}: {p.text}" for p in result.parts if not p.passed)
    assert len(result.calls) == (18 if cache == "bf16" else 20)


@pytest.mark.parametrize("S", [1, 40, 64])
def test_scores_far_from_zero(emulator, S):
    # Padding of zeros, not masked, would outweigh the valid rows; without a maximum taken off, exp would underflow.
    # Products keep 2^-10 of the largest of eight, so that one of 720 costs the others some of their bits.
    problem = Problem.random(PRESETS["tiny"], S, 128)
    for sign in (-1.0, 1.0):
        problem.q[..., 0], problem.k[:, :, [*range(S), *range(96, 128)], 0] = 30.0, sign * 24.0
        assert_near(*Attending(emulator, problem.shape, 128).run(problem), limit=0.03)


def test_one_value_row_is_what_one_weight_picks(emulator):
    # A key that fits its query like no other gives its value back, wherever it lies.
    s, S = SMALL, 77
    problem = Problem.random(s, S, 256)
    rows = torch.tensor([*range(S), *range(256 - s.tokens, 256)])
    picks = rows[torch.randperm(len(rows), generator=torch.Generator().manual_seed(1))[: s.tokens]]
    for head in range(s.n_heads):
        problem.q[0, head] = (problem.k[0, head // s.group, picks] * 4).bfloat16()
    got, want = Attending(emulator, s, 256).run(problem)
    assert_near(got, want)
    values = torch.cat([problem.v[0, head // s.group, picks] for head in range(s.n_heads)], -1)
    assert relative_l2(got[0, 0].double(), values.double()) < 0.005


@pytest.mark.parametrize(
    "budget, expected", [(450_000, (2, 1, 2)), (570_000, (1, 1, 0)), (330_000, (2, 2, 0)), (180_000, (4, 4, 0))]
)
def test_rows_and_queries_that_do_not_fit(emulator, monkeypatch, budget, expected):
    monkeypatch.setattr(attention, "CB_BUDGET", budget)
    monkeypatch.setattr(attention, "MOST_WORKERS", 2)
    attending = Attending(emulator, SMALL, 512, "bf16")
    found = attending.implementation._split(512)
    assert (found.units_a_head, found.blocks, found.feeders) == expected, found
    for S in (5, 300, 448):
        assert_near(*attending.run(Problem.random(SMALL, S, 512)))


def test_more_heads_than_cores(emulator):
    shape = parse_shape("tiny,n_heads=120,n_kv_heads=120")
    assert_near(*Attending(emulator, shape, 128, "bfp8").run(Problem.random(shape, 50, 128, "bfp8")))


def test_what_fits_no_core_says_so(monkeypatch):
    monkeypatch.setattr(attention, "CB_BUDGET", 40_000)
    with pytest.raises(UsageError, match="takes .* B of a core's L1 at least, and at most 40000 B fit"):
        split(REAL, 110, 8, 8192, "bf16")


@given(
    n_kv_heads=st.integers(1, 200),
    group=st.integers(1, 16),
    tokens=st.sampled_from([32, 64, 96, 128]),
    head_dim=st.sampled_from([64, 128]),
    cache_rows=st.integers(5, 2000),
    cores=st.sampled_from([110, 130]),
    cache=st.sampled_from(["bf16", "bfp8"]),
)
def test_every_shape_has_a_split(n_kv_heads, group, tokens, head_dim, cache_rows, cores, cache):
    shape = LayerShape(tokens=tokens, n_heads=n_kv_heads * group, n_kv_heads=n_kv_heads, head_dim=head_dim)
    found = split(shape, cores, 8, cache_rows * TILE, cache)
    r, c = found.owned
    owned = [found.owned_rows(worker) * c for worker in range(found.workers)]
    assert sum(owned) == found.rows * found.head_tiles, "every tile of the output has one owner"
    assert found.units * found.rows == n_kv_heads * group * tokens // TILE
    assert -(-found.units // found.units_a_core) * found.workers + 8 * found.feeders <= cores
    assert found.block * found.blocks * found.workers >= cache_rows
    assert not found.feeders or (found.blocks == found.units_a_core == 1)


def test_tensors_and_context_may_change_on_the_emulator():
    check_moved_tensors("emulator", "attention")


@pytest.mark.simulator
def test_tensors_and_context_may_change_on_the_real_ttnn():
    code = "from tests.test_fused import check_moved_tensors; check_moved_tensors('simulator', 'attention')"
    run_on_the_real_ttnn(code, timeout=600)


@pytest.mark.simulator
@pytest.mark.parametrize(
    "shape, Smax, rows, cache",
    [
        pytest.param(SMALL, 256, (33, 192), "bfp8", id="small, bfp8 cache"),
        pytest.param(REAL, 8192, (1, 33, 1000, 4700, 8128), "bf16", id="real size", marks=pytest.mark.slow),
        pytest.param(REAL, 8192, (1000, 4700), "bfp8", id="real size, bfp8 cache", marks=pytest.mark.slow),
    ],
)
def test_the_bits_of_the_real_ttnn(shape, Smax, rows, cache):
    problems = [Problem.random(shape, S, Smax, cache) for S in rows]
    with open_target("simulator") as target:
        real = [Attending(target, shape, Smax, cache).run(problem)[0] for problem in problems]
        target.exit_code = 0
    with open_target("emulator", grid=(13, 10)) as target:
        attending = Attending(target, shape, Smax, cache)
        for problem, theirs in zip(problems, real, strict=True):
            ours, want = attending.run(problem)
            assert torch.equal(ours, theirs)
            assert_near(ours, want)


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.parametrize("S", [1024, 4700])
def test_the_layer_at_its_real_size_on_the_real_ttnn(S):
    done = run_cli("check", "attention", "--target", "simulator", "--seq-len", str(S))
    assert done.returncode == 0, done.stdout + done.stderr
