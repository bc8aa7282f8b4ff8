"""What the op graph rounds: the formats of its tensors, the bits its matmuls multiply, the sums of 16-bit DEST.

The error of this model against the oracle is the bar of the verdict (harness/verdict.py): it knows the inputs at hand,
costs a fraction of a run and is the same on every target. tests/test_bar.py holds it to the op graph on the emulator,
whose numbers are the real ttnn's to single last bits. What the device computes is written in
harness/emulator/numerics/; here stand only the roundings that weigh.

    tensors      bf16; projections and caches bfp8 or bf16
    matmuls      HiFi2 cuts the left operand to 7 bits of its significand, always towards zero; fp32 sums
    attention    HiFi2; sums round to bf16 after 16 products of each pass; chunks of 128 keys, merged in a tree
    norms        squares, sums after every 16, products in bf16

What the error of a query does is chance where it lies between two keys of large logits. In a shape of few tokens and
heads few such queries make up the error, and chance all of it. So there the model draws several times, each time from
queries with other errors of the same size.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from harness.emulator.formats import half_away
from harness.emulator.numerics.config import MathFidelity
from harness.emulator.numerics.engine import Engine
from harness.emulator.numerics.fpu import SRC_A_BITS, SRC_B_BITS, cut
from harness.emulator.numerics.sfpu import exp_line
from harness.oracle import Arithmetic

# Elementwise work: HiFi4 into 16-bit DEST, the default of ttnn's norms, rotary embedding and adds.
ENGINE = Engine(MathFidelity.HiFi4, wide=False, approximate=False, bf16_buffers=True)
BF16_BITS = 8  # of a bf16's significand

BLOCK = 16  # values that share an exponent in bfp8
STEPS = 127  # largest magnitude of a bfp8 value, in steps of its block
SUM = 16  # products between two roundings of 16-bit DEST
KEYS = 128  # of a chunk of attention
PAIRS = 1024  # of token and head, in all draws: those of the real shape
DRAWS = 4  # at least, where there are fewer
ROWS = 64  # of a projection at once: what they take on the way stays in the cache of a processor


def bf16(x: torch.Tensor) -> torch.Tensor:
    """fp32 rounded to bf16."""
    return x.bfloat16().float()


def bfp8(x: torch.Tensor) -> torch.Tensor:
    """fp32 rounded to bfp8: 16 neighbours of a row share the exponent of the largest, and have 7 bits and a sign."""
    blocks = x.unflatten(-1, (-1, BLOCK))
    largest = blocks.abs().amax(-1, keepdim=True)
    step = torch.ldexp(torch.ones_like(largest), torch.frexp(largest).exponent - 7)
    return ((blocks / step).round_().clamp_(-STEPS, STEPS) * step).flatten(-2)


@dataclass(frozen=True)
class OpGraphArithmetic(Arithmetic):
    """fp32 tensors that hold what the op graph's tensors hold, from attention on [draws, ...].

    weights   `bfp8` or `bf16`
    queries   the exact ones [n_kv, group T, d], to draw more from; without them there is one draw, the op graph's
    """

    weights: str
    queries: torch.Tensor | None = None

    def weight(self, w: torch.Tensor) -> torch.Tensor:
        return torch.cat([bfp8(rows) for rows in w.split(ROWS)]) if self.weights == "bfp8" else w

    def kept(self, x: torch.Tensor) -> torch.Tensor:
        return bf16(x)

    def linear(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return cut(x, SRC_B_BITS) @ w

    def norm(self, x: torch.Tensor, gamma: torch.Tensor, eps: float) -> torch.Tensor:
        mean = cut(ENGINE.sum_rows(ENGINE.multiply(x, x)) / x.shape[-1], BF16_BITS)
        scale = bf16(torch.rsqrt(ENGINE.add(mean, bf16(torch.tensor(eps)))))
        return ENGINE.multiply(ENGINE.multiply(x, scale), gamma)

    def rotate(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        low, high = x.chunk(2, dim=-1)
        return ENGINE.add(ENGINE.multiply(x, cos), ENGINE.multiply(torch.cat((-high, low), dim=-1), sin))

    def add(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return ENGINE.add(a, b)

    def attention(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float) -> torch.Tensor:
        scores = _sums(cut(self._drawn(q), SRC_B_BITS), k.transpose(-1, -2))
        p = cut(exp_line(_dest(scores - scores.amax(-1, keepdim=True)), scale), SRC_B_BITS)
        ones = v.new_ones(v.shape[0], v.shape[1], 1)
        out, total = (
            _tree([_sums(p[..., i : i + KEYS], right[:, i : i + KEYS]) for i in range(0, k.shape[1], KEYS)])
            for right in (v, ones)
        )
        return out * bf16(1 / total)

    def _drawn(self, q: torch.Tensor) -> torch.Tensor:
        """[draws, ...]: q, and the exact queries with other errors of the size of q's."""
        if self.queries is None:
            return q[None]
        exact = self.queries.float()
        size = (q - exact).pow(2).mean(-1, keepdim=True).sqrt()
        noise = torch.randn(draws(q.shape[0] * q.shape[1]) - 1, *q.shape, generator=torch.Generator().manual_seed(0))
        return torch.cat((q[None], bf16(exact + size * noise)))


def draws(pairs: int) -> int:
    """How often attention is drawn where there are so many (token, head) pairs: once at the real shape."""
    return 1 if pairs >= PAIRS else max(DRAWS, -(-PAIRS // pairs))


def _dest(x: torch.Tensor) -> torch.Tensor:
    """fp32 as it lies in 16-bit DEST."""
    return half_away(x, BF16_BITS)


def _sums(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """left @ right in 16-bit DEST: a pass over the top bits of the right operand, and one over the rest."""
    top = cut(right, SRC_A_BITS)
    total = torch.zeros(())
    for i in range(0, right.shape[-2], SUM):
        for part in (top, right - top):
            total = _dest(total + left[..., i : i + SUM] @ part[..., i : i + SUM, :])
    return total


def _tree(parts: list[torch.Tensor]) -> torch.Tensor:
    while len(parts) > 1:
        parts = [_dest(sum(parts[i : i + 2], torch.zeros(()))) for i in range(0, len(parts), 2)]
    return parts[0]
