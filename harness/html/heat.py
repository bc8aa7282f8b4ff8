"""The error of a tensor over token x channel as a picture; one scale for all implementations."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from harness.compare import Comparison, Entry

TENSOR = "output"
COLUMNS = 384  # of a picture at most; wider tensors show the rms of so many channels together
TOP = 0.999  # quantile that has the brightest colour: one outlier does not darken all else
# Dark to bright, seven points of matplotlib's "inferno", and what is NaN or infinite.
INFERNO = ((0, 0, 4), (50, 10, 94), (120, 28, 109), (187, 55, 84), (237, 105, 37), (251, 180, 26), (252, 255, 164))
NOT_FINITE = (0, 200, 255)


@dataclass(frozen=True)
class Heat:
    """A picture of [tokens, channels]: its data URI, and what to say below it; no URI where there was no output."""

    name: str
    passed: bool
    uri: str
    tokens: int
    channels: int
    text: str


@dataclass(frozen=True)
class Heats:
    """All pictures; group: channels a column stands for; top: the error of the brightest colour; scale: its picture."""

    pictures: tuple[Heat, ...]
    group: int
    top: float
    scale: str


def heats(c: Comparison) -> Heats | None:
    """Of the first call's output; None where no implementation got so far."""
    errors = [_error(e) for e in c.entries]
    known = [e for e in errors if e is not None]
    if not known:
        return None
    group = -(-known[0].shape[1] // COLUMNS)
    pooled = [None if e is None else _pooled(e, group) for e in errors]
    # What is right sets the scale, so that a wrong one shines beside it.
    right = [p for p, e in zip(pooled, c.entries, strict=True) if p is not None and e.passed]
    top = _top(right or [p for p in pooled if p is not None])
    pictures = tuple(_heat(e, error, p, top) for e, error, p in zip(c.entries, errors, pooled, strict=True))
    return Heats(pictures, group, top, _uri(np.linspace(0, top, 256)[None], top))


def _error(e: Entry) -> torch.Tensor | None:
    part = e.check.part(TENSOR)
    return part.error if part else None


def _pooled(error: torch.Tensor, group: int) -> NDArray[np.float64]:
    """The rms of each `group` channels; the last have fewer."""
    return np.stack([c.pow(2).mean(1).sqrt().numpy() for c in error.split(group, dim=1)], axis=1)


def _top(values: Sequence[NDArray[np.float64]]) -> float:
    finite = np.concatenate([v[np.isfinite(v)] for v in values])
    return float(np.quantile(finite, TOP)) if finite.size and finite.max() > 0 else 1.0


def _heat(e: Entry, error: torch.Tensor | None, pooled: NDArray[np.float64] | None, top: float) -> Heat:
    name = e.check.implementation
    if error is None or pooled is None:
        return Heat(name, e.passed, "", 0, 0, "no output to compare")
    part = e.check.part(TENSOR)
    assert part
    finite = torch.where(error.isfinite(), error, 0.0)
    rms, largest = float(finite.pow(2).mean().sqrt()), float(finite.abs().max())
    worst = "; ".join(f"{a.name} {a.text}" for a in part.aspects if a.name.startswith(("worst", "finite")))
    text = f"rms {rms:.4g}, largest {largest:.4g}" + (f"; {worst}" if worst else "")
    tokens, channels = error.shape
    return Heat(name, e.passed, _uri(pooled, top), tokens, channels, text)


def _uri(values: NDArray[np.float64], top: float) -> str:
    """A PNG of a palette, as a data URI. Colours 0 to 254 are the scale, 255 is what is not finite."""
    finite = np.isfinite(values)
    index = np.where(finite, np.clip(np.where(finite, values, 0.0) / top, 0, 1) * 254, 255).round().astype(np.uint8)
    at = np.linspace(0, len(INFERNO) - 1, 255)
    ramp = np.stack([np.interp(at, range(len(INFERNO)), channel) for channel in zip(*INFERNO, strict=True)], axis=1)
    palette = np.vstack([ramp.round(), NOT_FINITE]).astype(np.uint8)
    rows = np.pad(index, ((0, 0), (1, 0)))  # each row opens with its filter, 0
    header = struct.pack(">2I5B", index.shape[1], index.shape[0], 8, 3, 0, 0, 0)
    chunks = (
        (b"IHDR", header),
        (b"PLTE", palette.tobytes()),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    )
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return "data:image/png;base64," + base64.b64encode(png).decode()
