"""The standard attention kernel: every core takes chunks of queries over all keys, with an online softmax.

Row groups stream through scores, exponentials and values. The mask, the row sums and the running output are added up by
the packer in L1, and the exponentials are the vector unit's straight-line form, whatever the program config says.

Tensors are fp32 with the values of the device's formats. n: heads, q: query rows, s: keys, d: head_dim.
"""

from __future__ import annotations

import torch

from harness.emulator.formats import TILE
from harness.emulator.numerics import sfpu
from harness.emulator.numerics.engine import Engine

DEST_TILES = 8  # tiles of 16-bit DEST that one half of it holds


def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: torch.Tensor | None,
    scale: float,
    q_chunk: int,
    k_chunk: int,
    engine: Engine,
) -> torch.Tensor:
    """``q [n, g, q, d]`` over ``k, v [n, 1, s, d]``: g query heads share a kv head. ``mask [n or 1, g or 1, q, s]``."""
    scores = engine.matmul(q, k.transpose(-1, -2))
    if mask is not None:
        scores = engine.in_l1(scores + mask)
    scores = scores.unflatten(-1, (-1, k_chunk)).transpose(-2, -3)
    values = v.unflatten(-2, (-1, k_chunk))
    tops = scores.amax(-1, keepdim=True).cummax(-3).values
    weights = sfpu.exp_line(engine.subtract(scores, tops), scale)
    totals = _added_in_l1(list(weights.split(TILE, -1)), engine)
    outs = torch.cat([_weighted(w, values, engine) for w in weights.split(q_chunk, -2)], -2)
    top, total, out = (part[..., 0, :, :] for part in (tops, totals, outs))
    for i in range(1, scores.shape[-3]):
        fade = sfpu.exp_column(engine.subtract(top, tops[..., i, :, :]), scale, engine.wide)
        total = engine.in_l1(totals[..., i, :, :] + engine.multiply(total, fade))
        out = engine.in_l1(outs[..., i, :, :] + engine.multiply(out, fade))
        top = tops[..., i, :, :]
    total = engine.matmul(total, torch.ones(TILE, TILE))[..., :1]
    return engine.multiply(out, sfpu.reciprocal_tile(total, engine.wide))


def _weighted(weights: torch.Tensor, values: torch.Tensor, engine: Engine) -> torch.Tensor:
    """``weights @ values`` of one chunk of queries. The first row group runs by blocks of keys."""
    tiles_q, tiles_k = weights.shape[-2] // TILE, weights.shape[-1] // TILE
    rows, block = subblock(tiles_q, tiles_k)
    if rows == 1 and tiles_q >= 2 and 2 * subblock(1, values.shape[-1] // TILE)[1] <= DEST_TILES:
        rows = 2
    head, rest = weights[..., : rows * TILE, :], weights[..., rows * TILE :, :]
    size = block * TILE
    pieces = zip(head.split(size, -1), values.split(size, -2), strict=True)
    out = _added_in_l1([engine.matmul(left, right) for left, right in pieces], engine)
    return out if rest.shape[-2] == 0 else torch.cat([out, engine.matmul(rest, values)], -2)


def subblock(tiles_high: int, tiles_wide: int) -> tuple[int, int]:
    """Rows and columns, in tiles, of the piece of a product that DEST holds at once."""
    if tiles_high % 2 == 0 and tiles_wide % 4 == 0:
        return 2, 4
    return 1, max(w for w in range(1, DEST_TILES + 1) if tiles_wide % w == 0)


def _added_in_l1(parts: list[torch.Tensor], engine: Engine) -> torch.Tensor:
    total = parts[0]
    for part in parts[1:]:
        total = engine.in_l1(total + part)
    return total
