"""The layer in plain torch: what every implementation is judged against.

`tests/test_oracle.py` judges this file by transformers' Qwen3VLTextModel. The formulas stand here once; an `Arithmetic`
says what is rounded on the way: nothing for the oracle, what the op graph rounds for `harness/opgraph_arithmetic.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F

from harness.positions import expert_positions, rope_cos_sin
from harness.shape import LayerShape
from harness.weights import LayerWeights


@dataclass(frozen=True)
class OracleResult:
    """out [T, hidden]; k, v [n_kv, T, head_dim], the roped keys and the values the layer writes to its cache.

    attention, mlp [T, hidden]: what the two halves of the layer add to x; x + attention + mlp = out.
    q, heads [n_kv, group T, head_dim]: the roped queries, and what attention makes of them.
    """

    out: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    attention: torch.Tensor
    mlp: torch.Tensor
    q: torch.Tensor
    heads: torch.Tensor


class Arithmetic:
    """Exact, to the dtype of the tensors. Subclasses round as a device does."""

    def weight(self, w: torch.Tensor) -> torch.Tensor:
        """A projection as it is kept."""
        return w

    def kept(self, x: torch.Tensor) -> torch.Tensor:
        """A tensor that goes from one op to the next."""
        return x

    def linear(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        """x @ w."""
        return x @ w

    def norm(self, x: torch.Tensor, gamma: torch.Tensor, eps: float) -> torch.Tensor:
        """RMSNorm over the last dimension."""
        return rms_norm(x, gamma, eps)

    def rotate(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        """Rotary embedding."""
        return rotate(x, cos, sin)

    def add(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """A residual add."""
        return a + b

    def attention(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float) -> torch.Tensor:
        """Non-causal: q [n_kv, rows, d] of the query heads that share a KV head, k and v [n_kv, keys, d].

        The result may have dimensions in front; `attention`, `mlp`, `heads` and `out` have them then.
        """
        return torch.softmax(q @ k.transpose(-1, -2) * scale, dim=-1) @ v


def rms_norm(x: torch.Tensor, gamma: torch.Tensor, eps: float) -> torch.Tensor:
    """RMSNorm over the last dimension."""
    return gamma * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps))


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotary embedding of x [heads, T, head_dim] in the rotate_half convention; cos, sin [T, head_dim]."""
    low, high = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-high, low), dim=-1) * sin


def oracle_layer(
    x: torch.Tensor,
    weights: LayerWeights,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    shape: LayerShape,
    S: int,
    rope_delta: int,
    dtype: torch.dtype = torch.float32,
    arithmetic: Arithmetic | None = None,
) -> OracleResult:
    """One layer, computed in `dtype` and exact `arithmetic` unless told otherwise, from the values given.

    x [..., T, hidden]; caches [1, n_kv, Smax, head_dim] of which only rows [0, S) are read.
    """
    s, a = shape, arithmetic or Arithmetic()
    x = x.reshape(s.tokens, s.hidden).to(dtype)
    w = {name: getattr(weights, name).to(dtype) for name in LayerWeights.shapes(s)}
    w = {name: a.weight(t) if t.dim() == 2 else t for name, t in w.items()}
    # Tables come from fp32 angles in every dtype: that is the model's definition, not a rounding to be avoided.
    tables = rope_cos_sin(expert_positions(S, rope_delta, s.tokens), s.head_dim, s.rope_theta)
    cos, sin = (a.kept(t.to(dtype)) for t in tables)

    qkv = a.kept(a.linear(a.norm(x, w["norm1"], s.rms_eps), w["wqkv"]))
    q, k, v = (
        part.reshape(s.tokens, -1, s.head_dim).transpose(0, 1)
        for part in qkv.split((s.q_dim, s.kv_dim, s.kv_dim), dim=-1)
    )
    q = a.kept(a.rotate(a.norm(q, w["q_norm"], s.rms_eps), cos, sin))
    k = a.kept(a.rotate(a.norm(k, w["k_norm"], s.rms_eps), cos, sin))

    keys = torch.cat((k_cache[0, :, :S].to(dtype), k), dim=1)
    values = torch.cat((v_cache[0, :, :S].to(dtype), v), dim=1)
    folded = q.reshape(s.n_kv_heads, s.group * s.tokens, s.head_dim)
    heads = a.kept(a.attention(folded, keys, values, s.head_dim**-0.5))
    by_head = heads.unflatten(-2, (s.group, s.tokens)).flatten(-4, -3)
    side_by_side = by_head.transpose(-3, -2).flatten(-2)
    attention = a.kept(a.linear(side_by_side, w["wo"]))
    x1 = a.kept(a.add(x, attention))

    h = a.norm(x1, w["norm2"], s.rms_eps)
    gate, up = a.kept(F.silu(a.linear(h, w["w1"]))), a.kept(a.linear(h, w["w3"]))
    mlp = a.kept(a.linear(a.kept(gate * up), w["w2"]))
    return OracleResult(a.kept(a.add(x1, mlp)), k, v, attention, mlp, folded, heads)
