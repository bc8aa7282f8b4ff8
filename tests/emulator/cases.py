"""The op graph's ops on a small layer, runnable on the real and on the emulated ttnn, each beside its fp32 formula.

64 tokens, hidden 512, 4 query heads on 2 kv heads of 128, inner size 1024, a cache of 512 rows of which 300 are valid.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

TOKENS, HIDDEN, HEADS, KV, DIM, INTER, ROWS, VALID, EPS = 64, 512, 4, 2, 128, 1024, 512, 300, 1e-6
SCALE = DIM**-0.5
FOLDED = (1, KV, HEADS // KV * TOKENS, DIM)

Run = Callable[[Any, Any, dict[str, Any]], Any]
Formula = Callable[[dict[str, torch.Tensor]], torch.Tensor]


@dataclass(frozen=True)
class Case:
    """``inputs`` by name with their dtypes; ``run(ttnn, device, tensors)``; ``formula`` on the values that went in."""

    inputs: dict[str, str]
    run: Run
    formula: Formula


def value(name: str) -> torch.Tensor:
    """The fp32 input of that name."""
    shape, spread, shift = {
        "x": ((1, 1, TOKENS, HIDDEN), 1.0, 0.0),
        "gamma": ((1, 1, 1, HIDDEN), 0.2, 1.0),
        "gamma_head": ((1, 1, 1, DIM), 0.2, 1.0),
        "wqkv": ((HIDDEN, (HEADS + 2 * KV) * DIM), HIDDEN**-0.5, 0.0),
        "wo": ((HEADS * DIM, HIDDEN), (HEADS * DIM) ** -0.5, 0.0),
        "w1": ((HIDDEN, INTER), HIDDEN**-0.5, 0.0),
        "w3": ((HIDDEN, INTER), HIDDEN**-0.5, 0.0),
        "w2": ((INTER, HIDDEN), INTER**-0.5, 0.0),
        "qkv": ((1, 1, TOKENS, (HEADS + 2 * KV) * DIM), 1.0, 0.0),
        "q": ((1, HEADS, TOKENS, DIM), 1.0, 0.0),
        "k": ((1, KV, TOKENS, DIM), 1.0, 0.0),
        "keys": ((1, KV, ROWS, DIM), 1.0, 0.0),
        "values": ((1, KV, ROWS, DIM), 1.0, 0.0),
        "wide": ((1, 1, TOKENS, INTER), 2.0, 0.0),
        "wide2": ((1, 1, TOKENS, INTER), 1.0, 0.0),
        "angle": ((1, 1, TOKENS, DIM // 2), 3.0, 0.0),
        "mask": ((1, 1, FOLDED[2], ROWS), 0.0, 0.0),
        "mask_tokens": ((1, 1, TOKENS, ROWS), 0.0, 0.0),
    }[{"cos": "angle", "sin": "angle"}.get(name, name)]
    generator = torch.Generator().manual_seed(sum(name.encode()) if name not in ("cos", "sin") else 1)
    noise = torch.randn(shape, generator=generator) * spread + shift
    if name in ("cos", "sin"):
        angles = torch.cat([noise, noise], -1)
        return angles.cos() if name == "cos" else angles.sin()
    if name.startswith("mask"):
        noise[..., VALID : ROWS - TOKENS] = -1e9
    elif name in ("keys", "values"):
        noise[:, :, VALID:] = 7.0
    return noise


def kernel(ttnn: Any, fidelity: str = "HiFi2", wide: bool = True, l1: bool = True) -> Any:
    """A compute configuration."""
    return ttnn.WormholeComputeKernelConfig(
        math_fidelity=getattr(ttnn.MathFidelity, fidelity),
        math_approx_mode=False,
        fp32_dest_acc_en=wide,
        packer_l1_acc=l1,
    )


def linear(ttnn: Any, device: Any, x: Any, w: Any, block: int = 0, silu: bool = False, **precision: Any) -> Any:
    """A linear layer; ``block`` tiles of K at a time on a tuned program config, or ttnn's own choice where it is 0."""
    options: dict[str, Any] = {"dtype": ttnn.bfloat16, "compute_kernel_config": kernel(ttnn, **precision)}
    if block:
        grid = device.compute_with_storage_grid_size()
        options["program_config"] = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
            compute_with_storage_grid_size=(grid.x, grid.y),
            in0_block_w=block,
            out_subblock_h=1,
            out_subblock_w=1,
            per_core_M=TOKENS // 32,
            per_core_N=1,
            fuse_batch=True,
            fused_activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.SILU) if silu else None,
            mcast_in0=True,
        )
    elif silu:
        options["activation"] = "silu"
    return ttnn.linear(x, w, **options)


def decode(ttnn: Any, device: Any, q: Any, k: Any, v: Any, mask: Any, chunk: int = 32, cores: int = 4) -> Any:
    """Flash decode over the cache seen as one user a kv head, queries folded."""
    program = ttnn.SDPAProgramConfig(
        compute_with_storage_grid_size=device.compute_with_storage_grid_size(),
        q_chunk_size=32,
        k_chunk_size=chunk,
        exp_approx_mode=False,
        max_cores_per_head_batch=cores,
    )
    out = ttnn.transformer.scaled_dot_product_attention_decode(
        ttnn.view(q, FOLDED),
        ttnn.view(k, (KV, 1, ROWS, DIM)),
        ttnn.view(v, (KV, 1, ROWS, DIM)),
        is_causal=False,
        attn_mask=mask,
        scale=SCALE,
        program_config=program,
        compute_kernel_config=kernel(ttnn, wide=False, l1=False),
    )
    return ttnn.view(out, (1, HEADS, TOKENS, DIM))


def standard(ttnn: Any, device: Any, q: Any, k: Any, v: Any, mask: Any, q_chunk: int = 32, chunk: int = 128) -> Any:
    """The standard attention kernel."""
    program = ttnn.SDPAProgramConfig(
        compute_with_storage_grid_size=device.compute_with_storage_grid_size(),
        q_chunk_size=q_chunk,
        k_chunk_size=chunk,
        exp_approx_mode=False,
    )
    return ttnn.transformer.scaled_dot_product_attention(
        q,
        k,
        v,
        attn_mask=mask,
        is_causal=False,
        scale=SCALE,
        program_config=program,
        compute_kernel_config=kernel(ttnn, wide=False, l1=False),
    )


def folded(ttnn: Any, device: Any, q: Any, k: Any, v: Any, mask: Any) -> Any:
    """The standard kernel with a kv head's queries folded onto rows."""
    out = standard(ttnn, device, ttnn.view(q, FOLDED), k, v, mask, q_chunk=128, chunk=256)
    return ttnn.view(out, (1, HEADS, TOKENS, DIM))


def layer(ttnn: Any, device: Any, t: dict[str, Any], attend: Callable[..., Any], mask: str) -> list[Any]:
    """The 19 ops. Returns the output and the two caches."""
    h = ttnn.rms_norm(t["x"], epsilon=EPS, weight=t["gamma"])
    q, k, v = split(ttnn, linear(ttnn, device, h, t["wqkv"], block=8))
    q, k = (ttnn.rms_norm(part, epsilon=EPS, weight=t["gamma_head"]) for part in (q, k))
    q, k = (ttnn.experimental.rotary_embedding_hf(part, t["cos"], t["sin"]) for part in (q, k))
    for cache, rows in (("keys", k), ("values", v)):
        ttnn.fill_cache(t[cache], rows, 0, update_idx=ROWS - TOKENS)
    o = ttnn.experimental.nlp_concat_heads(attend(ttnn, device, q, t["keys"], t["values"], t[mask]))
    x = ttnn.add(t["x"], linear(ttnn, device, o, t["wo"], block=8))
    h = ttnn.rms_norm(x, epsilon=EPS, weight=t["gamma"])
    gate, up = linear(ttnn, device, h, t["w1"], block=8, silu=True), linear(ttnn, device, h, t["w3"], block=8)
    return [ttnn.add(x, linear(ttnn, device, ttnn.multiply(gate, up), t["w2"], block=16)), t["keys"], t["values"]]


def split(ttnn: Any, qkv: Any) -> Any:
    """q, k and v heads."""
    return ttnn.experimental.nlp_create_qkv_heads(qkv, num_heads=HEADS, num_kv_heads=KV, transpose_k_heads=False)


def fill(ttnn: Any, device: Any, t: dict[str, Any]) -> Any:
    """Write the new keys into the tail of the cache."""
    ttnn.fill_cache(t["keys"], t["k"], 0, update_idx=ROWS - TOKENS)
    return t["keys"]


# The formulas


def norm_of(x: torch.Tensor, gamma: torch.Tensor) -> torch.Tensor:
    """RMSNorm."""
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPS) * gamma


def rope_of(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """RoPE on halves."""
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat([-second, first], -1) * sin


def heads_of(qkv: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """q, k and v heads."""
    return qkv.view(TOKENS, -1, DIM).transpose(0, 1)[None].split([HEADS, KV, KV], 1)


def attention_of(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Attention over the valid rows and the tail."""
    scores = q.reshape(FOLDED) @ k.transpose(-1, -2) * SCALE + value("mask")
    return (scores.softmax(-1) @ v).view(1, HEADS, TOKENS, DIM)


def filled(cache: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """The cache with its tail replaced."""
    return torch.cat([cache[:, :, : ROWS - TOKENS], rows], 2)


def layer_of(t: dict[str, torch.Tensor]) -> torch.Tensor:
    """The layer's output."""
    q, k, v = heads_of(norm_of(t["x"], t["gamma"]) @ t["wqkv"])
    q, k = (rope_of(norm_of(part, t["gamma_head"]), t["cos"], t["sin"]) for part in (q, k))
    a = attention_of(q, filled(t["keys"], k), filled(t["values"], v))
    x = t["x"] + a.transpose(1, 2).reshape(1, 1, TOKENS, -1) @ t["wo"]
    h = norm_of(x, t["gamma"])
    return x + (F.silu(h @ t["w1"]) * (h @ t["w3"])) @ t["w2"]


def _inputs(names: str, **dtypes: str) -> dict[str, str]:
    weights = {"wqkv", "wo", "w1", "w2", "w3"}
    return {n: dtypes.get(n, "bfloat8_b" if n in weights else "bfloat16") for n in names.split()}


LAYER = _inputs("x gamma gamma_head wqkv wo w1 w3 w2 cos sin keys values")
BFP8 = {"keys": "bfloat8_b", "values": "bfloat8_b"}

CASES: dict[str, Case] = {
    "rms_norm": Case(
        _inputs("x gamma"),
        lambda t, d, i: t.rms_norm(i["x"], epsilon=EPS, weight=i["gamma"]),
        lambda i: norm_of(i["x"], i["gamma"]),
    ),
    "rms_norm in 32 bits": Case(
        _inputs("x gamma"),
        lambda t, d, i: t.rms_norm(
            i["x"], epsilon=EPS, weight=i["gamma"], compute_kernel_config=kernel(t, "HiFi4", l1=False)
        ),
        lambda i: norm_of(i["x"], i["gamma"]),
    ),
    "linear": Case(
        _inputs("x wqkv"),
        lambda t, d, i: linear(t, d, i["x"], i["wqkv"], block=8),
        lambda i: i["x"] @ i["wqkv"],
    ),
    "linear with ttnn's config": Case(
        _inputs("x wqkv"), lambda t, d, i: linear(t, d, i["x"], i["wqkv"]), lambda i: i["x"] @ i["wqkv"]
    ),
    "linear in 16 bits": Case(
        _inputs("x wqkv"),
        lambda t, d, i: linear(t, d, i["x"], i["wqkv"], block=4, wide=False),
        lambda i: i["x"] @ i["wqkv"],
    ),
    "linear with SiLU": Case(
        _inputs("x w1"),
        lambda t, d, i: linear(t, d, i["x"], i["w1"], block=8, silu=True),
        lambda i: F.silu(i["x"] @ i["w1"]),
    ),
    "split heads": Case(_inputs("qkv"), lambda t, d, i: list(split(t, i["qkv"])), lambda i: heads_of(i["qkv"])[0]),
    "rope": Case(
        _inputs("q cos sin"),
        lambda t, d, i: t.experimental.rotary_embedding_hf(i["q"], i["cos"], i["sin"]),
        lambda i: rope_of(i["q"], i["cos"], i["sin"]),
    ),
    "typecast to bfp8": Case(_inputs("k"), lambda t, d, i: t.typecast(i["k"], t.bfloat8_b), lambda i: i["k"]),
    "fill_cache": Case(_inputs("keys k"), fill, lambda i: filled(i["keys"], i["k"])),
    "fill_cache in bfp8": Case(
        _inputs("keys k", keys="bfloat8_b", k="bfloat8_b"), fill, lambda i: filled(i["keys"], i["k"])
    ),
    "decode": Case(
        _inputs("q keys values mask", mask="bfloat4_b"),
        lambda t, d, i: decode(t, d, i["q"], i["keys"], i["values"], i["mask"]),
        lambda i: attention_of(i["q"], i["keys"], i["values"]),
    ),
    "decode on a bfp8 cache": Case(
        _inputs("q keys values mask", mask="bfloat4_b", **BFP8),
        lambda t, d, i: decode(t, d, i["q"], i["keys"], i["values"], i["mask"], chunk=128, cores=16),
        lambda i: attention_of(i["q"], i["keys"], i["values"]),
    ),
    "standard attention": Case(
        _inputs("q keys values mask_tokens"),
        lambda t, d, i: standard(t, d, i["q"], i["keys"], i["values"], i["mask_tokens"]),
        lambda i: attention_of(i["q"], i["keys"], i["values"]),
    ),
    "standard attention, folded": Case(
        _inputs("q keys values mask", **BFP8),
        lambda t, d, i: folded(t, d, i["q"], i["keys"], i["values"], i["mask"]),
        lambda i: attention_of(i["q"], i["keys"], i["values"]),
    ),
    "concat heads": Case(
        _inputs("q"),
        lambda t, d, i: t.experimental.nlp_concat_heads(i["q"]),
        lambda i: i["q"].transpose(1, 2).reshape(1, 1, TOKENS, -1),
    ),
    "add": Case(_inputs("wide wide2"), lambda t, d, i: t.add(i["wide"], i["wide2"]), lambda i: i["wide"] + i["wide2"]),
    "multiply": Case(
        _inputs("wide wide2"), lambda t, d, i: t.multiply(i["wide"], i["wide2"]), lambda i: i["wide"] * i["wide2"]
    ),
    "silu": Case(_inputs("wide"), lambda t, d, i: t.silu(i["wide"]), lambda i: F.silu(i["wide"])),
    "layer": Case(LAYER | {"mask": "bfloat4_b"}, lambda t, d, i: layer(t, d, i, decode, "mask"), layer_of),
    "layer, standard attention": Case(
        LAYER | {"mask_tokens": "bfloat16"}, lambda t, d, i: layer(t, d, i, standard, "mask_tokens"), layer_of
    ),
}

# What the op graph does by default has no need of these.
VARIANTS = (
    "rms_norm in 32 bits",
    "linear with ttnn's config",
    "linear in 16 bits",
    "typecast to bfp8",
    "fill_cache in bfp8",
    "decode on a bfp8 cache",
    "standard attention, folded",
    "silu",
)


def run(ttnn: Any, device: Any, case: Case) -> tuple[dict[str, torch.Tensor], list[torch.Tensor]]:
    """The values that went in, as their dtypes hold them, and what came out."""
    tensors, values = {}, {}
    for name, dtype in case.inputs.items():
        source = value(name)
        tensors[name] = ttnn.from_torch(
            source.bfloat16() if dtype == "bfloat16" else source,
            dtype=getattr(ttnn, dtype),
            layout=ttnn.TILE_LAYOUT,
            device=device,
        )
        values[name] = ttnn.to_torch(tensors[name]).float()
    result = case.run(ttnn, device, tensors)
    return values, [ttnn.to_torch(part) for part in (result if isinstance(result, list) else [result])]
