"""The KV caches as the text model leaves them: from a file, or made up; and on the device, with what goes with them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from safetensors import SafetensorError, safe_open

from harness.dtypes import to_device
from harness.errors import UsageError
from harness.expert.names import FLOATS
from harness.expert.progress import Layers, no_layers
from harness.oracle import rms_norm, rotate
from harness.positions import rope_cos_sin
from harness.shape import LayerShape
from harness.targets import Target

RUN = 18  # tokens in a row that resemble each other: a row of an image's patches


class KvRows(Protocol):
    """S rows of each layer's cache, and the positions that follow them."""

    @property
    def S(self) -> int:
        """Valid rows."""

    @property
    def rope_delta(self) -> int:
        """The own tokens stand at i + rope_delta + S."""

    def rows(self, i: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Roped keys, and values, of layer i: bf16 [n_kv, S, head_dim] each."""


@dataclass(frozen=True)
class SyntheticKv:
    """Made-up rows with the structure of real ones; not drawn from the model.

    Keys have RMS 1 under a weight of their own for each channel, as a key norm leaves them, and are roped at positions
    that advance slower than the rows, as they do over images (rope_delta < 0). Neighbours resemble each other. Values
    have a scale of their own for each head; those of the first row, where attention goes that has nowhere to go, are
    small.
    """

    shape: LayerShape
    S: int
    rope_delta: int
    seed: int

    def rows(self, i: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Roped keys, and values, of layer i."""
        s, gen = self.shape, torch.Generator().manual_seed(self.seed * 1_000_003 + 7919 * i + 5)
        runs = torch.randn((2, s.n_kv_heads, -(-self.S // RUN), s.head_dim), generator=gen)
        own = torch.randn((2, s.n_kv_heads, self.S, s.head_dim), generator=gen)
        keys, values = 0.8 * runs.repeat_interleave(RUN, 2)[:, :, : self.S] + 0.6 * own
        weight = torch.randn(s.head_dim, generator=gen).mul_(0.3).exp_()
        positions = torch.arange(self.S) * (self.S + self.rope_delta) // self.S
        keys = rotate(rms_norm(keys, weight, s.rms_eps), *rope_cos_sin(positions, s.head_dim, s.rope_theta))
        values = values * torch.randn((s.n_kv_heads, 1, 1), generator=gen).mul_(0.5).exp_()
        values[:, 0] *= 0.05
        return keys.bfloat16(), values.bfloat16()


class KvFile:
    """Rows from a safetensors file: `layers.{i}.key` and `.value`, [n_kv, S, head_dim], and the metadata rope_delta.

    `UsageError` names the tensor that is missing or does not fit.
    """

    def __init__(self, path: Path, shape: LayerShape, n_layers: int) -> None:
        try:
            self._file = safe_open(path, framework="pt")
        except (SafetensorError, OSError) as error:
            raise UsageError(f"{path} is no safetensors file: {error}") from error
        metadata = self._file.metadata() or {}
        try:
            self.rope_delta = int(metadata["rope_delta"])
        except (KeyError, ValueError):
            raise UsageError(f"{path} has no number rope_delta in its metadata") from None
        there = set(self._file.keys())
        self.S = 0
        for i in range(n_layers):
            for kind in ("key", "value"):
                name = f"layers.{i}.{kind}"
                if name not in there:
                    raise UsageError(f"{path} has no tensor {name}; {n_layers} layers need 0 to {n_layers - 1}")
                found = self._file.get_slice(name)
                dims, dtype = found.get_shape(), found.get_dtype()
                self.S = self.S or dims[1] if len(dims) == 3 else 0
                want = [shape.n_kv_heads, self.S, shape.head_dim]
                if dims != want:
                    raise UsageError(f"{name} has shape {dims}; it must be {want if self.S else 'of 3 dimensions'}")
                if dtype not in FLOATS:
                    raise UsageError(f"{name} is {dtype}; it must be one of {', '.join(FLOATS)}")

    def rows(self, i: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Roped keys, and values, of layer i."""
        k, v = (self._file.get_tensor(f"layers.{i}.{kind}").bfloat16() for kind in ("key", "value"))
        return k, v


@dataclass(frozen=True)
class Prompt:
    """What the text model leaves on the device: K and V [1, n_kv, Smax, head_dim] of each layer; S, rope_delta."""

    caches: tuple[tuple[Any, Any], ...]
    S: int
    rope_delta: int

    @property
    def Smax(self) -> int:
        """Rows of each cache."""
        return int(self.caches[0][0].shape[2])


def upload(
    target: Target, kv: KvRows, shape: LayerShape, n_layers: int, Smax: int, dtype: str, layers: Layers = no_layers
) -> Prompt:
    """Caches of Smax rows in `dtype` (`bf16` or `bfp8`), with the rows of `kv` in front. One layer at a time."""
    shape.check_context(kv.S, Smax)
    caches = []
    for i in range(n_layers):
        pair = []
        for rows in kv.rows(i):
            whole = torch.zeros(1, shape.n_kv_heads, Smax, shape.head_dim, dtype=torch.bfloat16)
            whole[0, :, : kv.S] = rows
            pair.append(to_device(target.ttnn, target.device, whole, dtype))
        caches.append((pair[0], pair[1]))
        layers(i + 1, n_layers)
    return Prompt(tuple(caches), kv.S, kv.rope_delta)
