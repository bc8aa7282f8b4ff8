"""Distances between two tensors, in fp64."""

from __future__ import annotations

import torch


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
