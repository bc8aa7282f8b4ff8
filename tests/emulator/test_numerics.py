"""The matrix engine and the vector unit: hand-made numbers, and the C++ product against one written out slowly."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.emulator import toolchain
from harness.emulator.numerics import fpu, matmul, sfpu
from harness.emulator.ttnn import MathFidelity

PASSES = {MathFidelity.LoFi: 1, MathFidelity.HiFi2: 2, MathFidelity.HiFi3: 3, MathFidelity.HiFi4: 4}
needs_compiler = pytest.mark.skipif(toolchain.find_compiler() is None, reason="needs a C++ compiler")


def bf16(*shape: int, seed: int = 0, spread: float = 0) -> torch.Tensor:
    """bf16 noise whose exponents spread over about ``spread`` powers of two, a tenth of it zeros; as fp32."""
    generator = torch.Generator().manual_seed(seed)
    noise = torch.randn(shape, generator=generator) * 2 ** (spread * torch.rand(shape, generator=generator))
    return noise.where(torch.rand(shape, generator=generator) > 0.1, 0).bfloat16().float()


def dot_by_hand(b: list[float], a: list[float], fidelity: MathFidelity, wide: bool) -> float:
    """One output of a matmul: DEST after every product was formed, aligned and added in Python's own numbers."""

    def exponent(x: float) -> int:
        return math.frexp(x)[1] - 1 if x else -1000

    def cut(x: float, bits: int) -> float:
        unit = 2.0 ** (exponent(x) - bits + 1)
        return math.trunc(x / unit) * unit if x else 0.0

    def away(x: float) -> float:
        return math.copysign(math.floor(abs(x) + 0.5), x)

    def up(x: float) -> float:
        return math.floor(x + 0.5)

    dest = 0.0
    for tile in range(0, len(a), 32):
        for number in range(PASSES[fidelity]):
            for start in (tile, tile + 16):
                sums = []
                for group in (range(start, start + 8), range(start + 8, start + 16)):
                    terms = []
                    for k in group:
                        parts_a = cut(a[k], 5), cut(a[k], 10) - cut(a[k], 5)
                        parts_b = cut(b[k], 7), b[k] - cut(b[k], 7)
                        offset = (0, -5, -7, -12)[number]
                        own = exponent(a[k]) + exponent(b[k]) + offset
                        terms.append((parts_a[number & 1] * parts_b[number >> 1], own))
                    top = max(own for _, own in terms)
                    unit = 2.0 ** (max(top, -100) - 10)
                    sums.append((sum(away(value / unit) for value, _ in terms) * unit, top))
                top = max(exponent(dest), sums[0][1], sums[1][1], -100)
                unit = 2.0 ** (top - 23)
                parts = [away(dest / unit), *(up(value / unit) for value, _ in sums)]
                if not wide:
                    parts = [away(parts[0] / 8192), *(up(part / 8192) for part in parts[1:])]
                    unit *= 8192
                total = sum(parts) * unit
                last = 2.0 ** (exponent(total) - (23 if wide else 7)) if total else 1.0
                dest = away(total / last) * last
    return dest


@needs_compiler
@settings(max_examples=40, deadline=None)
@given(
    fidelity=st.sampled_from(list(PASSES)),
    wide=st.booleans(),
    tiles=st.integers(1, 3),
    spread=st.sampled_from([0, 4, 20]),
    seed=st.integers(0, 1000),
)
def test_the_product_is_the_one_formed_by_hand(
    fidelity: MathFidelity, wide: bool, tiles: int, spread: float, seed: int
) -> None:
    b, a = bf16(2, 32 * tiles, seed=seed, spread=spread), bf16(32 * tiles, 3, seed=seed + 1, spread=spread)
    wanted = [[dot_by_hand(row.tolist(), col.tolist(), fidelity, wide) for col in a.T] for row in b]
    assert matmul.matmul(b, a, fidelity, wide).tolist() == wanted


@needs_compiler
def test_batches_rows_and_column_blocks_do_not_matter() -> None:
    b, a = bf16(3, 64, 96, seed=1), bf16(3, 96, 160, seed=2)
    whole = matmul.matmul(b, a, MathFidelity.HiFi2, wide=False)
    for i in range(3):
        part = matmul.matmul(b[i, 32:], a[i, :, 128:], MathFidelity.HiFi2, wide=False)
        assert torch.equal(part, whole[i, 32:, 128:])
    shared = matmul.matmul(b, a[:1], MathFidelity.HiFi2, wide=False)
    assert torch.equal(shared[2], matmul.matmul(b[2], a[0], MathFidelity.HiFi2, wide=False))


@needs_compiler
def test_dest_can_be_carried_on() -> None:
    b, a = bf16(32, 128, seed=3), bf16(128, 32, seed=4)
    whole = matmul.matmul(b, a, MathFidelity.HiFi2, wide=False)
    half = matmul.matmul(b[:, :64], a[:64], MathFidelity.HiFi2, wide=False)
    assert torch.equal(matmul.matmul(b[:, 64:], a[64:], MathFidelity.HiFi2, wide=False, dest=half), whole)


@needs_compiler
@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("fidelity", PASSES)
def test_torch_alone_comes_close(fidelity: MathFidelity, wide: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    b, a = bf16(64, 256, seed=5), bf16(256, 96, seed=6)
    exact = matmul.matmul(b, a, fidelity, wide)
    monkeypatch.setattr(matmul, "_library", lambda: None)
    close = matmul.matmul(b, a, fidelity, wide)
    plain = b @ a
    rms = [(values - exact).pow(2).mean().sqrt() for values in (close, plain)]
    if wide:  # at HiFi3 and HiFi4 the plain product differs as little
        assert rms[0] < exact.std() / 1000
    else:
        assert rms[0] < rms[1] / 3
        assert torch.equal(close, close.bfloat16().float())


def test_a_pass_takes_five_bits_of_one_operand_and_seven_of_the_other() -> None:
    b, a = torch.tensor([[1 + 2**-7]]), torch.tensor([[1 + 2**-7]])
    one = torch.ones(1, 1)
    pad = torch.nn.functional.pad
    for fidelity, keeps_b, keeps_a in (
        (MathFidelity.LoFi, False, False),
        (MathFidelity.HiFi2, False, True),
        (MathFidelity.HiFi3, True, True),
        (MathFidelity.HiFi4, True, True),
    ):
        for left, right, kept in ((b, one, keeps_b), (one, a, keeps_a)):
            out = matmul.matmul(pad(left, (0, 31)), pad(right, (0, 0, 0, 31)), fidelity, wide=True)
            assert (out.item() > 1) == kept
    assert fpu.multiply(a, one, MathFidelity.LoFi, wide=True).item() == 1
    assert fpu.multiply(a, one, MathFidelity.HiFi2, wide=True).item() == 1 + 2**-7


def test_sixteen_bit_dest_rounds_half_away_after_every_pass() -> None:
    assert fpu.add(torch.tensor([1.0]), torch.tensor([2.0**-8]), wide=False).item() == 1 + 2**-7
    assert fpu.add(torch.tensor([-1.0]), torch.tensor([-(2.0**-8)]), wide=False).item() == -1 - 2**-7
    assert fpu.add(torch.tensor([1.0]), torch.tensor([2.0**-8]), wide=True).item() == 1 + 2**-8
    row = torch.full((1, 32), 0.5)
    row[0, 0] = 256
    assert fpu.sum_rows(row, MathFidelity.HiFi4, wide=True).item() == 271.5
    assert fpu.sum_rows(row, MathFidelity.HiFi4, wide=False).item() == 272, "263.5 became 264 on the way"


@given(st.floats(-80, 80, width=32))
def test_the_vector_units_functions_are_good_to_a_bf16(x: float) -> None:
    value = torch.tensor([x]).bfloat16().float()
    for wide in (False, True):
        tolerance = 1e-6 if wide else 2**-7
        assert sfpu.exp(value, wide).item() == pytest.approx(value.exp().item(), rel=tolerance, abs=1e-37)
        assert sfpu.silu(value, wide).item() == pytest.approx(
            torch.nn.functional.silu(value).item(), rel=tolerance, abs=1e-30
        )
        if abs(x) > 1e-3:
            assert sfpu.reciprocal(value, False, wide).item() == pytest.approx(1 / value.item(), rel=tolerance)
            assert sfpu.rsqrt(value.abs(), False, wide).item() == pytest.approx(
                value.abs().rsqrt().item(), rel=tolerance
            )


def test_the_straight_line_exponential() -> None:
    x = torch.linspace(-80, 0, 1000)
    assert (sfpu.exp_line(x, 1.0) / x.exp() - 1).abs().max() < 0.06
    assert sfpu.exp_line(torch.tensor([-1e9, -200.0]), 1.0).tolist() == [0, 0]
    assert sfpu.exp_line(torch.zeros(1), 1.0).item() == 0.9765625, "it does not pass through 1"
