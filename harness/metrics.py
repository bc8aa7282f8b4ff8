"""Distances between two tensors, in fp64."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from harness.shape import TILE

BF16_FRACTION = 7  # bits of a bf16 after the leading one
# A value below this share of the tensor's rms counts as that large: the ulps of what is nearly zero mean nothing.
NEAR_ZERO = 1 / 16


def pcc(a: torch.Tensor, b: torch.Tensor) -> float:
    """Pearson correlation; 0 where either is constant or not finite, so that a constant never passes."""
    a, b = a.double().flatten(), b.double().flatten()
    if not (a.isfinite().all() and b.isfinite().all()):
        return 0.0
    a, b = a - a.mean(), b - b.mean()
    norm = a.norm() * b.norm()
    return float(a @ b / norm) if norm > 0 else 0.0


def relative_l2(got: torch.Tensor, want: torch.Tensor) -> float:
    """|got - want| / |want|; unlike PCC it sees a scale and an offset. Infinite where `got` is not finite."""
    got, want = got.double(), want.double()
    if not got.isfinite().all():
        return float("inf")
    return float((got - want).norm() / want.norm())


def max_abs(got: torch.Tensor, want: torch.Tensor) -> float:
    """Largest absolute difference; infinite where `got` is not finite."""
    diff = (got.double() - want.double()).abs()
    return float(diff.max()) if diff.isfinite().all() else float("inf")


def ulp(want: torch.Tensor) -> torch.Tensor:
    """The bf16 ulp of each value; of one near zero that of `NEAR_ZERO` times the rms."""
    size = want.abs().clamp(min=float(want.pow(2).mean().sqrt()) * NEAR_ZERO)
    return torch.ldexp(torch.ones_like(size), torch.frexp(size).exponent - 1 - BF16_FRACTION)


def concentration(values: torch.Tensor) -> float:
    """1 over the number of values that the sum of squares comes from: 1 for a single one, 1 / n for n alike."""
    square = values.double().pow(2)
    return float(square.pow(2).sum() / square.sum().pow(2))


def place(values: torch.Tensor) -> str:
    """Index of the largest value (NaN counts as the largest), as `[3, 17]`."""
    where = int(values.nan_to_num(torch.inf).argmax())
    return str([int(n) for n in torch.unravel_index(torch.tensor(where), values.shape)])


@dataclass(frozen=True)
class Coefficient:
    """Of a least-squares fit. error: its standard error, were the residuals independent."""

    value: float
    error: float


def fit(y: torch.Tensor, columns: Mapping[str, torch.Tensor]) -> dict[str, Coefficient]:
    """Best fit of y by a sum of the columns, each times a coefficient. Columns of zeros are left out."""
    used = {name: c.double().flatten() for name, c in columns.items() if c.abs().max() > 0}
    norms = torch.stack([c.norm() for c in used.values()])
    a = torch.stack(list(used.values()), dim=1) / norms  # columns of norm 1, for they differ by many orders
    y = y.double().flatten()
    inverse = torch.linalg.pinv(a.T @ a, hermitian=True)
    x = inverse @ (a.T @ y)
    sigma = (y - a @ x).pow(2).mean().sqrt()
    errors = sigma * inverse.diagonal().clamp(min=0).sqrt()
    values = zip(used, x / norms, errors / norms, strict=True)
    return {name: Coefficient(float(value), float(error)) for name, value, error in values}


def slices(error: torch.Tensor) -> dict[str, torch.Tensor]:
    """L2 norms of an error [T, channels] or [heads, T, d]: by token, by channel or head, and by tile."""
    square = error.double().pow(2)
    tiles = square.unflatten(-2, (-1, TILE)).unflatten(-1, (-1, TILE)).sum(dim=(-3, -1))
    if error.dim() == 2:
        sums = {"token": square.sum(1), "channel": square.sum(0), "tile": tiles}
    else:
        sums = {"token": square.sum((0, 2)), "head": square.sum((1, 2)), "tile": tiles}
    return {name: total.sqrt() for name, total in sums.items()}
