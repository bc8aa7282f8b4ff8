"""Attention as the device's kernels compute it: keys in chunks, an online softmax, partial results merged in a tree.

Tensors are fp32 with the values of the device's formats. Shapes: n heads (batch and kv head folded), q query rows,
d head_dim, s keys.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from harness.emulator import sfpu
from harness.emulator.engine import Engine


@dataclass
class Partial:
    """An unfinished attention: row maxima, sums of exponentials, weighted sums of values."""

    top: torch.Tensor  # [..., q, 1]
    total: torch.Tensor  # [..., q, 1]
    out: torch.Tensor  # [..., q, d]

    def __getitem__(self, index: object) -> Partial:
        return Partial(self.top[index], self.total[index], self.out[index])  # type: ignore[index]


def decode(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: torch.Tensor | None,
    scale: float,
    chunk: int,
    cores: int,
    engine: Engine,
) -> torch.Tensor:
    """Flash decode: ``q [n, q, d]`` over ``k, v [n, s, d]`` whose chunks are split over ``cores`` cores a head.

    ``mask [n or 1, q, s]`` is added to the scores. Core 0 has the last chunks and is the root of the tree.
    """
    scores = _scores(q, k, mask, chunk, engine)
    values = v.unflatten(1, (-1, chunk))
    shares = _shares(k.shape[1] // chunk, cores)
    partials = _over_chunks(scores, values, scale, shares, engine)
    step = 1
    while step < len(partials):
        for i in range(0, len(partials) - step, 2 * step):
            partials[i] = _merge(partials[i], partials[i + step], scale, engine)
        step *= 2
    root = partials[0]
    return engine.multiply(root.out, _reciprocal(root.total, engine))


def _scores(
    q: torch.Tensor, k: torch.Tensor, mask: torch.Tensor | None, chunk: int, engine: Engine
) -> torch.Tensor:
    """Masked scores by chunk of keys, ``[n, chunks, q, chunk]``."""
    scores = engine.matmul(q, k.transpose(-1, -2))
    if mask is not None:
        scores = engine.add(scores, mask)
    return scores.unflatten(-1, (-1, chunk)).transpose(1, 2)


def _shares(chunks: int, cores: int) -> list[range]:
    """Chunks of each core that has any, core 0 first: it takes the last ones."""
    if cores > chunks:
        return [range(i, i + 1) for i in reversed(range(chunks))]
    each, more = divmod(chunks, cores)
    starts = [i * each + min(i, more) for i in range(cores + 1)]
    return [range(a, b) for a, b in zip(starts, starts[1:], strict=False)][::-1]


def _over_chunks(
    scores: torch.Tensor, values: torch.Tensor, scale: float, shares: list[range], engine: Engine
) -> list[Partial]:
    """Each core's online softmax over its chunks. Chunks are worked on together where their order allows."""
    tops = scores.amax(-1, keepdim=True)  # of each chunk, then the running maximum of its core
    for share in shares:
        for i in share[1:]:
            tops[:, i] = torch.maximum(tops[:, i], tops[:, i - 1])
    weights = _weights(scores, tops, scale, engine)
    totals = engine.sum_rows(weights)
    outs = engine.matmul(weights, values)
    return [_one_core(Partial(tops, totals, outs), share, scale, engine) for share in shares]


def _one_core(chunks: Partial, share: range, scale: float, engine: Engine) -> Partial:
    done = chunks[:, share[0]]
    for i in share[1:]:
        here = chunks[:, i]
        fade = sfpu.exp_column(engine.subtract(done.top, here.top), scale, engine.wide)
        total = engine.add(here.total, engine.multiply(done.total, fade))
        done = Partial(here.top, total, engine.add(engine.multiply(done.out, fade), here.out))
    return done


def _weights(scores: torch.Tensor, tops: torch.Tensor, scale: float, engine: Engine) -> torch.Tensor:
    """exp(scale * (score - maximum))."""
    below = engine.subtract(scores, tops)
    return sfpu.exp_tile(sfpu.store(below * scale, engine.wide), engine.wide)


def _merge(ours: Partial, theirs: Partial, scale: float, engine: Engine) -> Partial:
    """Two cores' results as one; the statistics are the vector unit's work."""
    top = torch.maximum(ours.top, theirs.top)
    coarse = float(sfpu.store(torch.tensor(scale), wide=False))
    fades = [sfpu.exp((part.top - top) * coarse, engine.wide) for part in (ours, theirs)]
    totals = [sfpu.store(part.total * fade, engine.wide) for part, fade in zip((ours, theirs), fades, strict=True)]
    outs = [engine.multiply(part.out, fade) for part, fade in zip((ours, theirs), fades, strict=True)]
    return Partial(top, sfpu.store(totals[0] + totals[1], engine.wide), engine.add(*outs))


def _reciprocal(totals: torch.Tensor, engine: Engine) -> torch.Tensor:
    inverse = sfpu.reciprocal(totals, engine.wide)
    return inverse if engine.wide else sfpu.bf16(inverse)


def cores_per_head(grid_cores: int, heads: int, limit: int) -> int:
    """Cores that share one head's keys in flash decode."""
    return max(1, min(grid_cores // heads, limit))


def default_chunk(keys: int) -> int:
    """The chunk of keys that ttnn takes where none is given: the largest power of two in ``keys``, at most 512."""
    return min(512, math.gcd(keys, 512))
