"""Flash decode: the keys split over cores, an online softmax on each, the partial results merged in a tree.

Tensors are fp32 with the values of the device's formats. n: heads (users), q: query rows, s: keys, d: head_dim.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from harness.emulator.numerics import sfpu
from harness.emulator.numerics.engine import Engine


@dataclass
class Partial:
    """An unfinished attention: row maxima, sums of exponentials, weighted sums of values."""

    top: torch.Tensor  # [n, q, 1]
    total: torch.Tensor  # [n, q, 1]
    out: torch.Tensor  # [n, q, d]


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
    """``q [n, q, d]`` over ``k, v [n, s, d]`` in chunks of ``chunk`` keys, split over ``cores`` cores a head.

    ``mask [n or 1, q, s]`` is added to the scores. Core 0 has the last chunks and is the root of the tree.
    """
    scores = engine.matmul(q, k.transpose(-1, -2))
    if mask is not None:
        scores = engine.add(scores, mask)
    scores = scores.unflatten(-1, (-1, chunk)).transpose(1, 2)
    shares = _shares(k.shape[1] // chunk, cores)
    partials = _on_cores(scores, v.unflatten(1, (-1, chunk)), scale, shares, engine)
    step = 1
    while step < len(partials):
        for i in range(0, len(partials) - step, 2 * step):
            partials[i] = _merge(partials[i], partials[i + step], scale, engine)
        step *= 2
    root = partials[0]
    return engine.multiply(root.out, sfpu.reciprocal(root.total, engine.wide))


def _shares(chunks: int, cores: int) -> list[range]:
    """Chunks of each core that has any, core 0 first: it takes the last ones."""
    each, more = divmod(chunks, min(cores, chunks))
    starts = [i * each + min(i, more) for i in range(min(cores, chunks) + 1)]
    return [range(first, last) for first, last in zip(starts, starts[1:], strict=False)][::-1]


def _on_cores(
    scores: torch.Tensor, values: torch.Tensor, scale: float, shares: list[range], engine: Engine
) -> list[Partial]:
    """Each core's online softmax. Products are formed for all chunks at once: only the corrections have an order."""
    tops = scores.amax(-1, keepdim=True)  # of each chunk, then the running maximum of its core
    for share in shares:
        for i in share[1:]:
            tops[:, i] = torch.maximum(tops[:, i], tops[:, i - 1])
    weights = sfpu.store(engine.subtract(scores, tops) * scale, engine.wide)
    weights = sfpu.exp_tile(weights, engine.wide)
    totals = engine.sum_rows(weights)
    outs = engine.matmul(weights, values)
    return [_on_core([Partial(tops[:, i], totals[:, i], outs[:, i]) for i in share], scale, engine) for share in shares]


def _on_core(chunks: list[Partial], scale: float, engine: Engine) -> Partial:
    done = chunks[0]
    for here in chunks[1:]:
        fade = sfpu.exp_column(engine.subtract(done.top, here.top), scale, engine.wide)
        total = engine.add(here.total, engine.multiply(done.total, fade))
        done = Partial(here.top, total, engine.add(engine.multiply(done.out, fade), here.out))
    return done


def _merge(ours: Partial, theirs: Partial, scale: float, engine: Engine) -> Partial:
    """Two cores' results as one. The statistics are the vector unit's work, the outputs the matrix engine's."""
    top = torch.maximum(ours.top, theirs.top)
    coarse = sfpu.store(torch.tensor(scale), wide=False)
    fades = [sfpu.exp((part.top - top) * coarse, engine.wide) for part in (ours, theirs)]
    totals = [sfpu.store(part.total * fade, engine.wide) for part, fade in zip((ours, theirs), fades, strict=True)]
    outs = [engine.multiply(part.out, fade) for part, fade in zip((ours, theirs), fades, strict=True)]
    return Partial(top, sfpu.store(totals[0] + totals[1], engine.wide), engine.add(outs[0], outs[1]))
