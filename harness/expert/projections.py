"""From an action and a time to the hidden state that enters the first layer, and from the last one to a velocity.

Both run on the host in fp32: 64 tokens, a few MB of weights. Source: NVIDIA's public model code.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F

from harness.expert.names import FREQUENCIES
from harness.oracle import rms_norm

MAX_FREQUENCY = 100.0
EPS = 1e-5  # of the projection's norms, unlike those of the layers


def frequencies(rounded: bool) -> torch.Tensor:
    """`100 ** (i / 9)`, i = 0..9, fp32 [10].

    rounded   to bf16, as the reference has them: it loads the whole module in bf16, this buffer with it
    """
    exact = MAX_FREQUENCY ** (torch.arange(FREQUENCIES, dtype=torch.float32) / (FREQUENCIES - 1))
    return exact.bfloat16().float() if rounded else exact


def encode(u: torch.Tensor, freqs: torch.Tensor) -> torch.Tensor:
    """`sqrt(2) * cat(sin(2 pi f u), cos(2 pi f u))`: u [T] -> [T, 2 len(freqs)]."""
    angles = (2.0 * math.pi) * freqs * u[:, None]
    return math.sqrt(2.0) * torch.cat((angles.sin(), angles.cos()), dim=-1)


class ActionInProj:
    """A normalised action at a time -> the hidden state. Weights come from `tensor(short name)`.

    exact   use the exact frequencies; the rounded ones are what the model was run with
    """

    def __init__(self, tensor: Callable[[str], torch.Tensor], exact: bool = False) -> None:
        self.freqs = frequencies(rounded=not exact)
        trunk, norm = "action_in_proj.encoder.trunk", "action_in_proj.norm"
        self._linears = [tuple(tensor(f"{trunk}.{n}.{p}").float() for p in ("weight", "bias")) for n in (0, 3, 6)]
        self._gammas = [tensor(f"{trunk}.{n}.weight").float() for n in (2, 5)]
        self._norm = tensor(f"{norm}.weight").float(), tensor(f"{norm}.bias").float()

    def __call__(self, action: torch.Tensor, t: float) -> torch.Tensor:
        """action [T, 2] normalised, t in 0..1 -> fp32 [T, hidden]."""
        scalars = (*action.float().unbind(-1), torch.full((len(action),), t))
        h = torch.cat([encode(u, self.freqs) for u in scalars], dim=-1)
        for (weight, bias), gamma in zip(self._linears, self._gammas, strict=False):
            h = rms_norm(F.silu(F.linear(h, weight, bias)), gamma, EPS)
        h = F.linear(h, *self._linears[-1])
        return F.layer_norm(h, h.shape[-1:], *self._norm, EPS)


class ActionOutProj:
    """The hidden state after the final norm -> the velocity of the normalised action."""

    def __init__(self, tensor: Callable[[str], torch.Tensor]) -> None:
        self._linear = tensor("action_out_proj.weight").float(), tensor("action_out_proj.bias").float()

    def __call__(self, hidden: torch.Tensor) -> torch.Tensor:
        """hidden [T, hidden] -> fp32 [T, 2]."""
        return F.linear(hidden.float(), *self._linear)
