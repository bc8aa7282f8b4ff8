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

from harness.check import CheckResult
from harness.verdict import FIRST, Part

COLUMNS = 384  # of a picture at most; wider tensors show the rms of so many channels together
TOP = 0.999  # quantile that has the brightest colour: one outlier does not darken all else
# Dark to bright, seven points of matplotlib's "inferno", and what is NaN or infinite.
INFERNO = ((0, 0, 4), (50, 10, 94), (120, 28, 109), (187, 55, 84), (237, 105, 37), (251, 180, 26), (252, 255, 164))
NOT_FINITE = (0, 200, 255)


@dataclass(frozen=True)
class Heat:
    """A picture of [tokens, channels]: its data URI, and what to say below it; no URI where there was no such tensor.

    group   channels that a column stands for
    """

    name: str
    uri: str
    tokens: int
    channels: int
    group: int
    text: str


@dataclass(frozen=True)
class Heats:
    """All pictures on one scale. top: the error of the brightest colour, in rms of the op graph's; scale: a picture."""

    pictures: tuple[Heat, ...]
    top: float
    scale: str


def heats(checks: Sequence[CheckResult], tensors: Sequence[str] = ("output",)) -> Heats | None:
    """Of each tensor in its worst call, beside the op graph's error there; None where no check got so far."""
    found = [(check, tensor, check.worst(tensor)) for check in checks for tensor in tensors]
    pooled = [_pooled(part) if part else None for _, _, part in found]
    known = [(values, check.passed) for values, (check, _, _) in zip(pooled, found, strict=True) if values is not None]
    if not known:
        return None
    # What is right sets the scale, so that a wrong one shines beside it.
    top = _top([values for values, right in known if right] or [values for values, _ in known])
    pictures = []
    for (check, tensor, part), values in zip(found, pooled, strict=True):
        name = tensor if len(tensors) > 1 else check.implementation
        if part is None or values is None:
            pictures.append(Heat(name, "", 0, 0, 1, f"no {tensor} to compare"))
        else:
            tokens, channels = _flat(part).shape
            pictures.append(Heat(name, _uri(values, top), tokens, channels, _group(channels), _text(part)))
    return Heats(tuple(pictures), top, _uri(np.linspace(0, top, 256)[None], top))


def _flat(part: Part) -> torch.Tensor:
    """The error as [tokens, channels]; heads lie side by side."""
    assert part.error is not None
    return part.error if part.error.dim() == 2 else part.error.transpose(0, 1).flatten(1)


def _group(channels: int) -> int:
    return -(-channels // COLUMNS)


def _pooled(part: Part) -> NDArray[np.float64]:
    """The rms of each group of channels, in rms of the op graph's error; the last group may be smaller."""
    error = _flat(part) / part.bar
    return np.stack([c.pow(2).mean(1).sqrt().numpy() for c in error.split(_group(error.shape[1]), dim=1)], axis=1)


def _top(values: Sequence[NDArray[np.float64]]) -> float:
    finite = np.concatenate([v[np.isfinite(v)] for v in values])
    return float(np.quantile(finite, TOP)) if finite.size and finite.max() > 0 else 1.0


def _text(part: Part) -> str:
    """Which call it was, its figures, and where it is worst."""
    error = _flat(part)
    finite = torch.where(error.isfinite(), error, 0.0)
    rms, largest = float(finite.pow(2).mean().sqrt()), float(finite.abs().max())
    worst = [f"{a.name} {a.text}" for a in part.aspects if a.name.startswith(("worst", "finite"))]
    return "; ".join([f"{part.call or FIRST}: rms {rms:.3g}, largest {largest:.3g}", *worst])


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
