"""Values that try a block float's conversion: every exponent, ties, zeros inside blocks, saturation, masks."""

from __future__ import annotations

import torch

DTYPES = ("bfloat16", "bfloat8_b", "bfloat4_b")


def samples() -> torch.Tensor:
    """fp32 ``[512, 512]``."""
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(512, 512, generator=generator)
    exponents = torch.randint(-60, 60, (512, 32, 1), generator=generator).float()
    spread = torch.randint(-12, 1, (512, 32, 16), generator=generator).float()
    values = (noise.view(512, 32, 16) * 2**exponents * 2**spread).view(512, 512)
    ties = torch.randint(-255, 256, (64, 512), generator=generator).float() / 128
    values[:64] = ties
    values[64:96][torch.rand(32, 512, generator=generator) < 0.5] = 0
    values[96:128] = torch.where(torch.rand(32, 512, generator=generator) < 0.5, -1e9, 0.0)
    values[128:160] = values[128:160].bfloat16().float()
    values[160] = 0
    return values
