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
    exp_approx: bool,
    engine: Engine,
) -> torch.Tensor:
    """``q [n, q, d]`` over ``k, v [n, s, d]`` in chunks of ``chunk`` keys, split over ``cores`` cores a head.

    ``mask [n or 1, q, s]`` is added to the scores. Core 0 has the last chunks and is the root of the tree.
    """
    scores = engine.matmul(q, k.transpose(-1, -2))
    if mask is not None:
        scores = engine.add(scores, mask)
    scores = scores.unflatten(-1, (-1, chunk)).transpose(1, 2)
    partials = _on_cores(
        scores, v.unflatten(1, (-1, chunk)), scale, _shares(k.shape[1] // chunk, cores), exp_approx, engine
    )
    root = _merged(partials, scale, engine)
    return engine.multiply(root.out, engine.packed(sfpu.reciprocal(root.total, engine.approximate, engine.wide)))


def _shares(chunks: int, cores: int) -> list[range]:
    """Chunks of each core that has any, core 0 first: it takes the last ones."""
    each, more = divmod(chunks, min(cores, chunks))
    starts = [i * each + min(i, more) for i in range(min(cores, chunks) + 1)]
    return [range(first, last) for first, last in zip(starts, starts[1:], strict=False)][::-1]


def _on_cores(
    scores: torch.Tensor,
    values: torch.Tensor,
    scale: float,
    shares: list[range],
    exp_approx: bool,
    engine: Engine,
) -> list[Partial]:
    """Each core's online softmax. Products are formed for all chunks at once: only the corrections have an order."""
    tops = scores.amax(-1, keepdim=True)  # of each chunk, then the running maximum of its core
    for share in shares:
        for i in share[1:]:
            tops[:, i] = torch.maximum(tops[:, i], tops[:, i - 1])
    below = engine.subtract(scores, tops)
    if exp_approx:
        weights = sfpu.exp_line(below, scale)
    else:
        weights = sfpu.exp_tile(sfpu.store(below * scale, engine.wide), engine.wide)
    weights = engine.packed(weights)
    totals = engine.packed(engine.sum_rows(weights))
    outs = engine.matmul(weights, values)
    chunks = [Partial(tops[:, i], totals[:, i], outs[:, i]) for i in range(tops.shape[1])]
    return [_on_core([chunks[i] for i in share], scale, exp_approx, engine) for share in shares]


def _on_core(chunks: list[Partial], scale: float, exp_approx: bool, engine: Engine) -> Partial:
    done = chunks[0]
    for here in chunks[1:]:
        fade = sfpu.exp_column(engine.subtract(done.top, here.top), scale, exp_approx, engine.wide)
        fade = engine.packed(fade)
        total = engine.add(here.total, engine.multiply(done.total, fade))
        done = Partial(here.top, total, engine.add(engine.multiply(done.out, fade), here.out))
    return done


def _merged(partials: list[Partial], scale: float, engine: Engine) -> Partial:
    """A binary tree over the cores counted from the last one, whose root is core 0."""
    nodes = partials[::-1]
    last = len(nodes) - 1
    step = 1
    while step <= last:
        for i in range(step - 1, last, 2 * step):
            parent = min(i + step, last)
            nodes[parent] = _merge(nodes[parent], nodes[i], scale, engine)
        step *= 2
    return nodes[last]


def _merge(ours: Partial, theirs: Partial, scale: float, engine: Engine) -> Partial:
    """Two cores' results as one. The statistics are the vector unit's work, the outputs the matrix engine's."""
    top = torch.maximum(ours.top, theirs.top)
    pair = (ours, theirs)
    fades = [sfpu.exp_column(part.top - top, scale, True, engine.wide) for part in pair]
    totals = [sfpu.store(part.total * fade, engine.wide) for part, fade in zip(pair, fades, strict=True)]
    outs = [engine.multiply(part.out, engine.packed(fade)) for part, fade in zip(pair, fades, strict=True)]
    total = engine.packed(sfpu.store(totals[0] + totals[1], engine.wide))
    return Partial(top, total, engine.add(outs[0], outs[1]))
