"""The standard attention kernel: every core takes chunks of queries over all keys, with an online softmax.

Row groups stream through scores, exponentials and values. The mask, the row sums and the running output are added up by
the packer in L1, and the exponentials are the vector unit's straight-line form, whatever ``exp_approx_mode`` says: it
only chooses the form of the corrections. With 32-bit DEST ttnn runs an older kernel, which is modelled only roughly: by
this one with accurate exponentials.

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
    exp_approx: bool,
    engine: Engine,
) -> torch.Tensor:
    """``q [n, g, q, d]`` over ``k, v [n, 1, s, d]``: g query heads share a kv head. ``mask [n or 1, g or 1, q, s]``."""
    scores = engine.matmul(q, k.transpose(-1, -2))
    if mask is not None:
        scores = engine.in_l1(scores + mask)
    pieces = scores.split(k_chunk, -1)
    tops = torch.stack([piece.amax(-1, keepdim=True) for piece in pieces]).cummax(0).values
    done: tuple[torch.Tensor, ...] | None = None
    for piece, top, values in zip(pieces, tops, v.split(k_chunk, -2), strict=True):
        below = engine.subtract(piece, top)
        weights = engine.packed(sfpu.exp_tile(below * scale, True) if engine.wide else sfpu.exp_line(below, scale))
        total = _added_in_l1(list(weights.split(TILE, -1)), engine)
        parts = weights.split(q_chunk, -2)
        out = torch.cat([_weighted(part, values, (q_chunk, k_chunk), engine) for part in parts], -2)
        if done is not None:
            fade = sfpu.exp_column(engine.subtract(done[0], top), scale, exp_approx, engine.wide)
            fade = engine.packed(fade)
            total = engine.in_l1(total + engine.multiply(done[1], fade))
            out = engine.in_l1(out + engine.multiply(done[2], fade))
        done = (top, total, out)
    assert done is not None
    total = engine.matmul(done[1], torch.ones(TILE, TILE))[..., :1]
    return engine.multiply(done[2], engine.packed(sfpu.reciprocal_tile(total, engine.approximate, engine.wide)))


def _weighted(weights: torch.Tensor, values: torch.Tensor, chunks: tuple[int, int], engine: Engine) -> torch.Tensor:
    """``weights @ values`` of one chunk of queries. The first row group runs by blocks of keys."""
    tiles_q, tiles_k = (chunk // TILE for chunk in chunks)
    rows, block = subblock(tiles_q, tiles_k)
    out_rows, out_block = subblock(tiles_q, values.shape[-1] // TILE)
    rows = 2 if out_rows == 1 and tiles_q >= 2 and 2 * out_block <= DEST_TILES else out_rows
    block = max(w for w in range(1, block + 1) if weights.shape[-1] // TILE % w == 0)
    head, rest = weights[..., : rows * TILE, :], weights[..., rows * TILE :, :]
    pieces = zip(head.split(block * TILE, -1), values.split(block * TILE, -2), strict=True)
    out = _added_in_l1([engine.matmul(left, right) for left, right in pieces], engine)
    return out if rest.shape[-2] == 0 else torch.cat([out, engine.matmul(rest, values)], -2)


def subblock(tiles_high: int, tiles_wide: int) -> tuple[int, int]:
    """Rows and columns, in tiles, of the piece of a product that DEST holds at once.

    ttnn takes the largest that divides, the squarest of these, the widest of these; this kernel knows one or two rows.
    """
    sizes = [
        (h, w)
        for h in range(1, DEST_TILES + 1)
        for w in range(1, DEST_TILES // h + 1)
        if tiles_high % h == 0 and tiles_wide % w == 0
    ]
    high, wide = min(sizes, key=lambda size: (-size[0] * size[1], abs(size[0] - size[1]), size[0]))
    return (high if high <= 2 else 1), wide


def _added_in_l1(parts: list[torch.Tensor], engine: Engine) -> torch.Tensor:
    total = parts[0]
    for part in parts[1:]:
        total = engine.in_l1(total + part)
    return total
