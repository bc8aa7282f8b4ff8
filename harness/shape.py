"""The dimensions of one decoder layer, with the rules that make them legal on the device."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from harness.errors import UsageError

TILE = 32


@dataclass(frozen=True)
class LayerShape:
    """One Qwen3-VL style decoder layer at batch 1.

    tokens         own tokens T, written into the last T rows of each cache
    hidden         width of the residual stream
    n_heads        query heads; n_kv_heads divides it
    head_dim       width of a head, 64 or 128 (each rotary half is a whole number of tiles)
    inter          width of the SwiGLU MLP
    rms_eps        epsilon of every RMSNorm
    rope_theta     base of the rotary frequencies

    Raises `UsageError` naming the first field that is not legal.
    """

    tokens: int = 64
    hidden: int = 1536
    n_heads: int = 16
    n_kv_heads: int = 8
    head_dim: int = 128
    inter: int = 6144
    rms_eps: float = 1e-6
    rope_theta: float = 5e6

    def __post_init__(self) -> None:
        for name in ("tokens", "hidden", "n_heads", "n_kv_heads", "head_dim", "inter"):
            if getattr(self, name) <= 0:
                raise UsageError(f"{name} is {getattr(self, name)}; it must be positive")
        for name in ("tokens", "hidden", "inter"):
            value = getattr(self, name)
            if value % TILE:
                low, high = value // TILE * TILE, -(-value // TILE) * TILE
                near = f"{low} or {high}" if low else f"{high}"
                raise UsageError(f"{name} is {value}; it must be a multiple of the tile, {TILE} (try {near})")
        if self.head_dim not in (64, 128):
            raise UsageError(f"head_dim is {self.head_dim}; it must be 64 or 128")
        if self.n_heads % self.n_kv_heads:
            raise UsageError(f"n_heads {self.n_heads} is not a multiple of n_kv_heads {self.n_kv_heads}")
        if not 0 < self.rms_eps < 1:
            raise UsageError(f"rms_eps is {self.rms_eps}; it must lie between 0 and 1")
        if not 1 < self.rope_theta < math.inf:
            raise UsageError(f"rope_theta is {self.rope_theta}; it must be a number above 1")

    @property
    def group(self) -> int:
        """Query heads a KV head serves."""
        return self.n_heads // self.n_kv_heads

    @property
    def q_dim(self) -> int:
        """Width of all query heads, the input of the output projection."""
        return self.n_heads * self.head_dim

    @property
    def kv_dim(self) -> int:
        """Width of all key heads (and of all value heads)."""
        return self.n_kv_heads * self.head_dim

    @property
    def qkv_dim(self) -> int:
        """Width of the packed projection: query heads, key heads, value heads."""
        return self.q_dim + 2 * self.kv_dim

    def check_context(self, S: int, Smax: int) -> None:
        """Raise `UsageError` unless S valid rows and the T own rows fit a cache of Smax rows."""
        if Smax % TILE:
            raise UsageError(f"max-seq is {Smax}; it must be a multiple of the tile, {TILE}")
        if Smax <= self.tokens:
            raise UsageError(f"max-seq is {Smax}; it must exceed the {self.tokens} own rows")
        if not 1 <= S <= Smax - self.tokens:
            raise UsageError(
                f"seq-len is {S}; it must lie in 1..{Smax - self.tokens}, "
                f"for the last {self.tokens} of {Smax} cache rows hold the own tokens"
            )


PRESETS = {
    # Alpamayo 2 Super, action expert: docs/model.md has the sources.
    "alpamayo2_super": LayerShape(),
    "small": LayerShape(tokens=64, hidden=512, n_heads=8, n_kv_heads=4, head_dim=64, inter=1024),
    "tiny": LayerShape(tokens=32, hidden=128, n_heads=2, n_kv_heads=1, head_dim=64, inter=256),
}


def parse_shape(text: str) -> LayerShape:
    """`PRESET` or `PRESET,field=value,...` -> LayerShape; raises `UsageError` on an unknown name or value."""
    preset, *overrides = text.split(",")
    if preset not in PRESETS:
        raise UsageError(f"unknown shape {preset!r}; known: {', '.join(PRESETS)} (then ,field=value to change one)")
    types = {f.name: type(getattr(PRESETS[preset], f.name)) for f in dataclasses.fields(LayerShape)}
    changes = {}
    for item in overrides:
        name, _, value = item.partition("=")
        if name not in types:
            raise UsageError(f"unknown shape field {name!r}; known: {', '.join(types)}")
        try:
            changes[name] = types[name](value)
        except ValueError:
            raise UsageError(f"shape field {name} is {value!r}; it must be a number") from None
    return dataclasses.replace(PRESETS[preset], **changes)
