"""Where the own tokens stand, their rotary tables, and the mask that hides the unused cache rows."""

from __future__ import annotations

import torch

MASK_MIN = -1e9  # representable to within a step in bf16 and bfp4; its exp underflows to 0


def expert_positions(S: int, rope_delta: int, tokens: int) -> torch.Tensor:
    """Positions of the own tokens: `i + rope_delta + S`, int64 [tokens], one row for t, h and w alike."""
    return torch.arange(tokens) + (S + rope_delta)


def rope_cos_sin(
    positions: torch.Tensor, head_dim: int, theta: float, dtype: torch.dtype = torch.float32
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rotary tables in the rotate_half layout: cos and sin, each [len(positions), head_dim].

    Computed in `dtype`; fp32 is what transformers does, and what a device table is rounded from.
    """
    inv_freq = 1.0 / theta ** (torch.arange(0, head_dim, 2, dtype=torch.int64).to(dtype) / head_dim)
    angles = positions.to(dtype)[:, None] * inv_freq
    angles = torch.cat((angles, angles), dim=-1)
    return angles.cos(), angles.sin()


def build_mask(S: int, Smax: int, tokens: int, rows: int) -> torch.Tensor:
    """Additive mask, fp32 [1, 1, rows, Smax]: 0 on the valid rows [0, S) and the own rows [Smax-tokens, Smax)."""
    mask = torch.full((1, 1, rows, Smax), MASK_MIN)
    mask[..., :S] = 0.0
    mask[..., Smax - tokens :] = 0.0
    return mask
