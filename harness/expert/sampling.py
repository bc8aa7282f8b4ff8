"""Flow matching by Euler's method: from noise at t = 0 to an action at t = 1. Source: NVIDIA's public model code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from harness.expert.names import ACTION_DIMS

STEPS = 10


@dataclass(frozen=True)
class Point:
    """Where a sample was before a step, and its velocity there: t in 0..1, x and v [T, 2]."""

    t: float
    x: torch.Tensor
    v: torch.Tensor


def noise(tokens: int, seed: int, temperature: float = 1.0) -> torch.Tensor:
    """Where sampling starts: fp32 [T, 2]."""
    return torch.randn((tokens, ACTION_DIMS), generator=torch.Generator().manual_seed(seed)) * temperature


def euler(
    velocity: Callable[[torch.Tensor, float], torch.Tensor],
    x0: torch.Tensor,
    n_steps: int = STEPS,
    record: Callable[[Point], None] = lambda point: None,
) -> torch.Tensor:
    """x0 [T, 2] -> the action [T, 2], by `n_steps` equal steps of `velocity(x, t)`, each told to `record`."""
    ts = torch.linspace(0.0, 1.0, n_steps + 1)
    x = x0.float()
    for t, after in zip(ts[:-1], ts[1:], strict=True):
        v = velocity(x, float(t))
        record(Point(float(t), x, v))
        x = x + (after - t) * v
    return x
