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
    """Of a least-squares fit. error: its standard error, were the residuals independent, or tokens if that is more."""

    value: float
    error: float


def fit(y: torch.Tensor, columns: Mapping[str, torch.Tensor]) -> dict[str, Coefficient]:
    """Best fit of y [.., T, channels] by a sum of columns, times a coefficient each. Columns of zeros are left out."""
    used = {name: c.double() for name, c in columns.items() if c.abs().max() > 0}
    norms = torch.stack([c.norm() for c in used.values()])
    a = torch.stack(list(used.values()), dim=-1) / norms  # columns of norm 1, for they differ by many orders
    flat, y = a.flatten(0, -2), y.double()
    inverse = torch.linalg.pinv(flat.T @ flat, hermitian=True)
    x = inverse @ (flat.T @ y.flatten())
    rest = y - a @ x
    # A query's error moves all channels of its token: the sums of a token are independent where its values are not.
    by_token = (a * rest[..., None]).movedim(-3, 0).flatten(1, -2).sum(1) @ inverse
    errors = torch.maximum(rest.pow(2).mean() * inverse.diagonal(), by_token.pow(2).sum(0)).clamp(min=0).sqrt()
    values = zip(used, x / norms, errors / norms, strict=True)
    return {name: Coefficient(float(value), float(error)) for name, value, error in values}


def slices(error: torch.Tensor) -> dict[str, torch.Tensor]:
    """Squares of an error [T, channels] or [heads, T, d], summed by token in each token, channel or head, and tile.

    Each [tokens of a slice, *slices]: 1 of a token, T of a channel or head, 32 of a tile.
    """
    square = error.double().pow(2)
    tiles = square.unflatten(-2, (-1, TILE)).unflatten(-1, (-1, TILE)).sum(-1).movedim(-2, 0)
    if error.dim() == 2:
        return {"token": square.sum(1)[None], "channel": square, "tile": tiles}
    return {"token": square.sum((0, 2))[None], "head": square.sum(2).T, "tile": tiles}


def excess(square: torch.Tensor) -> torch.Tensor:
    """How unevenly a sum over the first dimension is made up: 0 if alike, 1 if of one square alone; 0 of nothing."""
    n = square.shape[0]
    share = square / square.sum(0).clamp(min=torch.finfo(square.dtype).tiny)
    return ((share.pow(2).sum(0) - 1 / n) / max(1 - 1 / n, 1 / n)).clamp(min=0)
