"""The vector unit's functions: exp, reciprocal, rsqrt and SiLU."""

from __future__ import annotations

import torch


def silu(values: torch.Tensor) -> torch.Tensor:
    """``x * sigmoid(x)``."""
    return values * torch.sigmoid(values)
