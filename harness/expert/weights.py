"""Where an expert's weights come from: a checkpoint has them, or a seed makes them."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import torch

from harness.expert.names import FREQUENCIES, expert_shapes
from harness.expert.projections import frequencies
from harness.shape import LayerShape
from harness.weights import LayerWeights


class ExpertWeights(Protocol):
    """The weights of an expert of `n_layers` layers, bf16, one layer at a time."""

    @property
    def shape(self) -> LayerShape:
        """Of each layer."""

    @property
    def n_layers(self) -> int:
        """How many layers there are."""

    def layer(self, i: int) -> LayerWeights:
        """The weights of layer i."""

    def tensor(self, name: str) -> torch.Tensor:
        """A tensor by its short name (harness/expert/names.py)."""


@dataclass(frozen=True)
class RandomWeights:
    """Random weights, the same for a seed whether they are asked for in a row or one alone.

    The layers are `LayerWeights.random`. The input projection weighs a frequency f by 1/f^2: with equal weights the
    velocity would turn a difference of the action into one 230 times as large (so it is 8 times), and rounding errors
    of the first Euler steps would decide where the last ones end.
    """

    shape: LayerShape
    n_layers: int
    seed: int

    def layer(self, i: int) -> LayerWeights:
        """The weights of layer i."""
        return LayerWeights.random(self.shape, self.seed, i)

    def tensor(self, name: str) -> torch.Tensor:
        """A tensor by its short name."""
        dims = expert_shapes(self.shape, self.n_layers)[name]
        if name.startswith("layers."):
            _, i, own = name.split(".", 2)
            return _layer_tensors(self, int(i))[own]
        gen = torch.Generator().manual_seed(self.seed * 1_000_003 + zlib.crc32(name.encode()))
        noise = torch.randn(dims, generator=gen)
        if name.endswith("bias"):
            values = 0.1 * noise
        elif len(dims) == 1:
            values = 1.0 + 0.25 * noise
        else:
            values = noise / math.sqrt(dims[1])
        if name.endswith("trunk.0.weight"):
            values /= frequencies(rounded=False).square().repeat(dims[1] // FREQUENCIES)
        return values.bfloat16()


@lru_cache(maxsize=1)
def _layer_tensors(weights: RandomWeights, i: int) -> dict[str, torch.Tensor]:
    return weights.layer(i).to_hf(weights.shape)
