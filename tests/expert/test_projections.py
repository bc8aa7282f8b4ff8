"""The projections around the decoder, held to their formulas in fp64 and to a bf16 module."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from harness.expert.projections import ActionInProj, ActionOutProj, encode, frequencies
from harness.expert.weights import RandomWeights
from harness.metrics import max_abs, pcc
from harness.shape import PRESETS

WEIGHTS = RandomWeights(PRESETS["alpamayo2_super"], n_layers=1, seed=3)
GEN = torch.Generator().manual_seed(11)
ACTION = torch.randn(64, 2, generator=GEN)


def in_fp64(action: torch.Tensor, t: float, freqs: list[float]) -> np.ndarray:
    """The formulas, written out in numpy's fp64."""

    def w(name: str) -> np.ndarray:
        return WEIGHTS.tensor(f"action_in_proj.{name}").double().numpy()

    f = np.array(freqs)
    u = np.concatenate([action.double().numpy(), np.full((len(action), 1), t)], axis=1)
    features = []
    for column in u.T:
        angle = 2 * np.pi * column[:, None] * f
        features += [np.sqrt(2) * np.sin(angle), np.sqrt(2) * np.cos(angle)]
    h = np.concatenate(features, axis=1)
    assert h.shape == (len(action), 60)
    for linear, norm in ((0, 2), (3, 5)):
        h = h @ w(f"encoder.trunk.{linear}.weight").T + w(f"encoder.trunk.{linear}.bias")
        h = h / (1 + np.exp(-h))
        h = h / np.sqrt((h**2).mean(1, keepdims=True) + 1e-5) * w(f"encoder.trunk.{norm}.weight")
    h = h @ w("encoder.trunk.6.weight").T + w("encoder.trunk.6.bias")
    h = (h - h.mean(1, keepdims=True)) / np.sqrt(h.var(1, keepdims=True) + 1e-5)
    return h * w("norm.weight") + w("norm.bias")


def steep(name: str) -> torch.Tensor:
    """The weights, with those of a frequency f of the order of 1/f instead of 1/f^2: so that frequencies show."""
    w = WEIGHTS.tensor(name)
    return (w * frequencies(rounded=False).repeat(6)).bfloat16() if name.endswith("trunk.0.weight") else w


class Bf16Module(nn.Module):
    """The projection as a torch module with its frequencies in a buffer: `.bfloat16()` rounds them too."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("freqs", 100.0 ** (torch.arange(10) / 9))
        self.trunk = nn.Sequential(
            nn.Linear(60, 512), nn.SiLU(), nn.RMSNorm(512, 1e-5), nn.Linear(512, 512), nn.SiLU(), nn.RMSNorm(512, 1e-5),
            nn.Linear(512, 1536),
        )  # fmt: skip
        self.norm = nn.LayerNorm(1536)
        state = {name: steep(f"action_in_proj.encoder.{name}") for name, _ in self.named_parameters()
                 if name.startswith("trunk")}  # fmt: skip
        norm = {f"norm.{n}": WEIGHTS.tensor(f"action_in_proj.norm.{n}") for n in ("weight", "bias")}
        self.load_state_dict({**state, **norm, "freqs": self.freqs})
        self.bfloat16()

    def forward(self, action: torch.Tensor, t: float) -> torch.Tensor:
        scalars = (*action.unbind(-1), torch.full((len(action),), t))
        angles = [2 * torch.pi * self.freqs.float() * u[:, None] for u in scalars]
        features = torch.cat([2**0.5 * torch.cat((a.sin(), a.cos()), -1) for a in angles], -1)
        return self.norm(self.trunk(features.bfloat16())).float()


ROUNDED = [1, 1.671875, 2.78125, 4.65625, 7.75, 12.9375, 21.5, 36, 60, 100]


def test_the_frequencies_are_those_of_the_sources():
    assert frequencies(rounded=True).tolist() == ROUNDED
    exact = [1, 1.66810, 2.78256, 4.64159, 7.74264, 12.91550, 21.54435, 35.93814, 59.94843, 100]
    assert frequencies(rounded=False).tolist() == pytest.approx(exact, abs=6e-6)


@pytest.mark.parametrize("t", [0.0, 0.3, 0.9])
def test_the_input_projection_is_its_formulas(t):
    for exact, freqs in ((False, ROUNDED), (True, (100 ** (np.arange(10) / 9)).tolist())):
        got = ActionInProj(WEIGHTS.tensor, exact)(ACTION, t)
        assert got.shape == (64, 1536) and got.dtype == torch.float32
        # fp32 holds an angle of some hundred rad to 2e-5, and the exact frequencies to 4e-6 of 100.
        assert max_abs(got, torch.from_numpy(in_fp64(ACTION, t, freqs))) < 5e-4


def test_the_formulas_see_a_swapped_sine():
    features = encode(ACTION[:, 0], frequencies(rounded=True))
    assert features.shape == (64, 20)
    assert torch.allclose(features[:, 0], 2**0.5 * torch.sin(2 * torch.pi * ACTION[:, 0]), atol=1e-5)
    assert torch.allclose(features[:, 10], 2**0.5 * torch.cos(2 * torch.pi * ACTION[:, 0]), atol=1e-5)


def test_rounded_frequencies_are_the_bf16_models():
    """The design notes: 0.009 max abs and PCC 0.999995 with the rounded ones, 0.069 and 0.99953 with the exact ones.

    Those are of the released weights; with random ones the order is the same and the size near it.
    """
    with torch.no_grad():
        want = Bf16Module()(ACTION, 0.3)
    rounded, exact = (ActionInProj(steep, e)(ACTION, 0.3) for e in (False, True))
    assert pcc(rounded, want) > 0.9999 > pcc(exact, want)
    assert max_abs(exact, want) > 3 * max_abs(rounded, want)


def test_the_output_projection():
    hidden = torch.randn(64, 1536, generator=GEN)
    w, b = (WEIGHTS.tensor(f"action_out_proj.{n}").double() for n in ("weight", "bias"))
    got = ActionOutProj(WEIGHTS.tensor)(hidden)
    assert got.shape == (64, 2)
    assert max_abs(got, hidden.double() @ w.T + b) < 1e-5
