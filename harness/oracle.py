"""The layer in plain torch, in fp32 or fp64: what every implementation is judged against.

`tests/test_oracle.py` judges this file by transformers' Qwen3VLTextModel.
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
    """out [T, hidden]; k, v [n_kv, T, head_dim], the roped keys and the values the layer writes to its cache."""

    out: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor


def rms_norm(x: torch.Tensor, gamma: torch.Tensor, eps: float) -> torch.Tensor:
    """RMSNorm over the last dimension."""
    return gamma * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps))


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotary embedding of x [heads, T, head_dim] in the rotate_half convention; cos, sin [T, head_dim]."""
    low, high = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-high, low), dim=-1) * sin


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float) -> torch.Tensor:
    """Non-causal grouped-query attention: q [n_heads, T, d], k and v [n_kv, rows, d] -> [n_heads, T, d]."""
    group = q.shape[0] // k.shape[0]
    k, v = k.repeat_interleave(group, 0), v.repeat_interleave(group, 0)
    scores = torch.matmul(q, k.transpose(-1, -2)) * scale
    return torch.matmul(torch.softmax(scores, dim=-1), v)


def oracle_layer(
    x: torch.Tensor,
    weights: LayerWeights,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    shape: LayerShape,
    S: int,
    rope_delta: int,
    dtype: torch.dtype = torch.float32,
) -> OracleResult:
    """One layer, computed in `dtype` from the values given.

    x [..., T, hidden]; caches [1, n_kv, Smax, head_dim] of which only rows [0, S) are read.
    """
    s = shape
    x = x.reshape(s.tokens, s.hidden).to(dtype)
    w = {name: getattr(weights, name).to(dtype) for name in LayerWeights.shapes(s)}
    # Tables come from fp32 angles in every dtype: that is the model's definition, not a rounding to be avoided.
    cos, sin = (t.to(dtype) for t in rope_cos_sin(expert_positions(S, rope_delta, s.tokens), s.head_dim, s.rope_theta))

    qkv = rms_norm(x, w["norm1"], s.rms_eps) @ w["wqkv"]
    q, k, v = (
        part.reshape(s.tokens, -1, s.head_dim).transpose(0, 1)
        for part in qkv.split((s.q_dim, s.kv_dim, s.kv_dim), dim=-1)
    )
    q = rotate(rms_norm(q, w["q_norm"], s.rms_eps), cos, sin)
    k = rotate(rms_norm(k, w["k_norm"], s.rms_eps), cos, sin)

    keys = torch.cat((k_cache[0, :, :S].to(dtype), k), dim=1)
    values = torch.cat((v_cache[0, :, :S].to(dtype), v), dim=1)
    a = attention(q, keys, values, s.head_dim**-0.5)
    x = x + a.transpose(0, 1).reshape(s.tokens, s.q_dim) @ w["wo"]

    h = rms_norm(x, w["norm2"], s.rms_eps)
    return OracleResult(x + (F.silu(h @ w["w1"]) * (h @ w["w3"])) @ w["w2"], k, v)
