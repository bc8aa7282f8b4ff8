"""Calls at the border of what ttnn accepts. Each takes a ttnn (real or emulated) and a device, and makes one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Call = Callable[[Any, Any], Any]


def tensor(ttnn: Any, device: Any, *shape: int, dtype: str = "bfloat16", layout: str = "TILE_LAYOUT") -> Any:
    """A device tensor of ones."""
    return ttnn.from_torch(torch.ones(shape), dtype=getattr(ttnn, dtype), layout=getattr(ttnn, layout), device=device)


def gone(ttnn: Any, device: Any, *shape: int) -> Any:
    """A deallocated tensor."""
    result = tensor(ttnn, device, *shape)
    result.deallocate()
    return result


def host(ttnn: Any, *shape: int) -> Any:
    """A host tensor."""
    return ttnn.from_torch(torch.ones(shape), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)


def matmul(m: int = 64, k: int = 128, n: int = 128, a: Any = None, b: Any = None, **config: Any) -> Call:
    """A matmul with a 1-D multicast program config; ``config`` overrides its fields."""

    def call(ttnn: Any, device: Any) -> Any:
        fields = {
            "compute_with_storage_grid_size": (4, 1),
            "in0_block_w": 2,
            "out_subblock_h": 1,
            "out_subblock_w": 1,
            "per_core_M": m // 32,
            "per_core_N": 1,
            "fuse_batch": True,
            "fused_activation": None,
            "mcast_in0": True,
        } | config
        program = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(**fields)
        kernel = ttnn.WormholeComputeKernelConfig(
            math_fidelity=ttnn.MathFidelity.HiFi2, fp32_dest_acc_en=True, packer_l1_acc=True
        )
        left = tensor(ttnn, device, 1, 1, m, k) if a is None else a(ttnn, device)
        right = tensor(ttnn, device, k, n) if b is None else b(ttnn, device)
        return ttnn.linear(left, right, program_config=program, compute_kernel_config=kernel)

    return call


def attention(
    decode: bool,
    q: tuple[int, ...] | None = None,
    k: tuple[int, ...] | None = None,
    v: tuple[int, ...] | None = None,
    mask: tuple[int, ...] | None = None,
    q_chunk: int = 32,
    k_chunk: int = 32,
    grid: tuple[int, int] = (8, 8),
    dtypes: tuple[str, str, str] = ("bfloat16", "bfloat16", "bfloat16"),
    mask_layout: str = "TILE_LAYOUT",
    **options: Any,
) -> Call:
    """An attention over 64 keys; every argument overrides a legal one."""
    q = q or ((1, 2, 32, 64) if decode else (1, 2, 32, 64))
    k = k or ((2, 1, 64, 64) if decode else (1, 2, 64, 64))
    mask = mask or (1, 1, 32, 64)

    def call(ttnn: Any, device: Any) -> Any:
        program = ttnn.SDPAProgramConfig(
            compute_with_storage_grid_size=grid, q_chunk_size=q_chunk, k_chunk_size=k_chunk, exp_approx_mode=False
        )
        op = (
            ttnn.transformer.scaled_dot_product_attention_decode
            if decode
            else ttnn.transformer.scaled_dot_product_attention
        )
        operands = [
            tensor(ttnn, device, *shape, dtype=dtype) for shape, dtype in zip((q, k, v or k), dtypes, strict=True)
        ]
        return op(
            *operands,
            **{
                "is_causal": False,
                "attn_mask": tensor(ttnn, device, *mask, layout=mask_layout),
                "program_config": program,
                "compute_kernel_config": ttnn.WormholeComputeKernelConfig(
                    math_fidelity=ttnn.MathFidelity.HiFi2, math_approx_mode=False
                ),
            }
            | options,
        )

    return call


def heads(width: int = 256, shape: tuple[int, ...] | None = None, layout: str = "TILE_LAYOUT", **counts: int) -> Call:
    """nlp_create_qkv_heads of 4 + 2 + 2 heads of 32."""
    options = {"num_heads": 4, "num_kv_heads": 2, "transpose_k_heads": False} | counts
    return lambda ttnn, device: ttnn.experimental.nlp_create_qkv_heads(
        tensor(ttnn, device, *(shape or (1, 1, 32, width)), layout=layout), **options
    )


def rope(
    x: tuple[int, ...] = (1, 2, 32, 64),
    cos: tuple[int, ...] = (1, 1, 32, 64),
    sin: tuple[int, ...] | None = None,
    dtype: str = "bfloat16",
) -> Call:
    """rotary_embedding_hf."""
    return lambda ttnn, device: ttnn.experimental.rotary_embedding_hf(
        tensor(ttnn, device, *x, dtype=dtype), tensor(ttnn, device, *cos), tensor(ttnn, device, *(sin or cos))
    )


def fill(
    cache: tuple[int, ...] = (1, 2, 128, 64),
    rows: tuple[int, ...] = (1, 2, 32, 64),
    batch: int = 0,
    at: int = 96,
    dtypes: tuple[str, str] = ("bfloat16", "bfloat16"),
) -> Call:
    """fill_cache."""
    return lambda ttnn, device: ttnn.fill_cache(
        tensor(ttnn, device, *cache, dtype=dtypes[0]),
        tensor(ttnn, device, *rows, dtype=dtypes[1]),
        batch,
        update_idx=at,
    )


def norm(x: tuple[int, ...] = (1, 1, 32, 64), weight: tuple[int, ...] = (1, 1, 1, 64), **kinds: str) -> Call:
    """rms_norm."""
    return lambda ttnn, device: ttnn.rms_norm(
        tensor(ttnn, device, *x, layout=kinds.get("x_layout", "TILE_LAYOUT"), dtype=kinds.get("dtype", "bfloat16")),
        epsilon=1e-6,
        weight=tensor(ttnn, device, *weight, layout=kinds.get("weight_layout", "TILE_LAYOUT")),
    )


def binary(op: str, a: tuple[int, ...], b: tuple[int, ...], **kinds: str) -> Call:
    """add or multiply."""
    return lambda ttnn, device: getattr(ttnn, op)(
        tensor(ttnn, device, *a, dtype=kinds.get("dtype", "bfloat16")),
        tensor(ttnn, device, *b, layout=kinds.get("layout", "TILE_LAYOUT")),
    )


def copy(
    source: tuple[int, ...] = (1, 1, 32, 64), target: tuple[int, ...] = (1, 1, 32, 64), dtype: str = "bfloat16"
) -> Call:
    """copy_host_to_device_tensor."""
    return lambda ttnn, device: ttnn.copy_host_to_device_tensor(
        host(ttnn, *source), tensor(ttnn, device, *target, dtype=dtype)
    )


CALLS: dict[str, Call] = {
    "matmul": matmul(),
    "matmul: block that does not divide K": matmul(in0_block_w=3),
    "matmul: block of 0": matmul(in0_block_w=0),
    "matmul: per_core_M too small": matmul(per_core_M=1),
    "matmul: per_core_M too large": matmul(per_core_M=4),
    "matmul: grid too small for N": matmul(n=512),
    "matmul: grid beyond the device": matmul(compute_with_storage_grid_size=(14, 11)),
    "matmul: per_core_N beyond N": matmul(per_core_N=8),
    "matmul: N not a multiple of per_core_N": matmul(n=160, per_core_N=2),
    "matmul: subblock height that does not divide": matmul(m=96, out_subblock_h=2),
    "matmul: subblock width that does not divide": matmul(per_core_N=3, n=384, out_subblock_w=2),
    "matmul: subblock beyond DEST": matmul(m=64, n=512, per_core_N=4, out_subblock_h=2, out_subblock_w=4),
    "matmul: subblock height 2, width 2": matmul(m=64, n=256, per_core_N=2, out_subblock_h=2, out_subblock_w=2),
    "matmul: out_block_h that does not divide": matmul(m=96, out_block_h=2),
    "matmul: out_block_w that does not divide": matmul(per_core_N=3, n=384, out_block_w=2),
    "matmul: inner sizes differ": matmul(b=lambda t, d: tensor(t, d, 96, 128)),
    "matmul: row-major operand": matmul(a=lambda t, d: tensor(t, d, 1, 1, 64, 128, layout="ROW_MAJOR_LAYOUT")),
    "matmul: host operand": matmul(b=lambda t, d: host(t, 128, 128)),
    "matmul: deallocated operand": matmul(a=lambda t, d: gone(t, d, 1, 1, 64, 128)),
    "matmul: weight with batch 1": matmul(b=lambda t, d: tensor(t, d, 1, 1, 128, 128)),
    "matmul: no fuse_batch": matmul(fuse_batch=False),
    "matmul: integer operand": matmul(a=lambda t, d: tensor(t, d, 1, 1, 64, 128, dtype="int32")),
    "matmul: blocks beyond L1": matmul(m=2048, k=2048, n=128, in0_block_w=64),
    "linear: inner sizes differ": lambda t, d: t.linear(tensor(t, d, 1, 1, 32, 64), tensor(t, d, 96, 64)),
    "linear: unknown activation": lambda t, d: t.linear(
        tensor(t, d, 1, 1, 32, 64), tensor(t, d, 64, 64), activation="tulip"
    ),
    "linear: vector": lambda t, d: t.linear(tensor(t, d, 1, 1, 32, 64), tensor(t, d, 64)),
    "linear: activation beside a program config": lambda t, d: t.linear(
        tensor(t, d, 1, 1, 64, 128),
        tensor(t, d, 128, 128),
        activation="silu",
        program_config=t.MatmulMultiCoreReuseMultiCast1DProgramConfig(
            compute_with_storage_grid_size=(4, 1),
            in0_block_w=2,
            out_subblock_h=1,
            out_subblock_w=1,
            per_core_M=2,
            per_core_N=1,
            fuse_batch=True,
            fused_activation=None,
            mcast_in0=True,
        ),
    ),
    **{
        f"{name}: {what}": attention(decode, **change)
        for decode, name in ((True, "decode"), (False, "attention"))
        for what, change in {
            "legal": {},
            "mask rows": {"mask": (1, 1, 64, 64)},
            "mask columns": {"mask": (1, 1, 32, 32)},
            "mask per head": {"mask": (1, 2, 32, 64)},
            "mask batch": {"mask": (3, 1, 32, 64)},
            "mask heads": {"mask": (1, 3, 32, 64)},
            "row-major mask": {"mask_layout": "ROW_MAJOR_LAYOUT"},
            "mask beside is_causal": {"is_causal": True},
            "q chunk 48": {"q_chunk": 48},
            "q chunk 0": {"q_chunk": 0},
            "k chunk 48": {"k_chunk": 48},
            "k chunk 0": {"k_chunk": 0},
            "k chunk beyond keys": {"k_chunk": 128},
            "grid beyond device": {"grid": (14, 11)},
            "fp32 query": {"dtypes": ("float32", "bfloat16", "bfloat16")},
            "bfp8 keys": {"dtypes": ("bfloat16", "bfloat8_b", "bfloat8_b")},
            "keys and values of two dtypes": {"dtypes": ("bfloat16", "bfloat8_b", "bfloat16")},
            "bfp4 keys": {"dtypes": ("bfloat16", "bfloat4_b", "bfloat4_b")},
            "no mask": {"attn_mask": None},
        }.items()
    },
    "decode: users differ": attention(True, k=(3, 1, 64, 64)),
    "decode: head_dim differs": attention(True, k=(2, 1, 64, 32)),
    "decode: values shorter": attention(True, v=(2, 1, 32, 64)),
    "decode: query batch of 2": attention(True, q=(2, 2, 32, 64)),
    "decode: chunk that does not divide the keys": attention(True, k=(2, 1, 96, 64), mask=(1, 1, 32, 96), k_chunk=64),
    "decode: more users than cores": attention(True, q=(1, 8, 32, 64), k=(8, 1, 64, 64), grid=(2, 2)),
    "decode: keys not a multiple of a tile": attention(True, k=(2, 1, 48, 64), mask=(1, 1, 32, 48)),
    "attention: heads do not divide": attention(False, q=(1, 3, 32, 64)),
    "attention: grouped heads": attention(False, q=(1, 4, 32, 64)),
    "attention: head_dim differs": attention(False, k=(1, 2, 64, 32)),
    "attention: values shorter": attention(False, v=(1, 2, 32, 64)),
    "attention: batches differ": attention(False, k=(2, 2, 64, 64)),
    "attention: query of three dimensions": attention(False, q=(2, 32, 64)),
    "attention: chunk that does not divide the keys": attention(
        False, k=(1, 2, 96, 64), mask=(1, 1, 32, 96), k_chunk=64
    ),
    "attention: chunk that does not divide the queries": attention(
        False, q=(1, 2, 96, 64), mask=(1, 1, 96, 64), q_chunk=64
    ),
    "attention: keys not a multiple of a tile": attention(False, k=(1, 2, 48, 64), mask=(1, 1, 32, 48)),
    "heads": heads(),
    "heads: width that does not divide": heads(width=288),
    "heads: more heads than width": heads(num_heads=40),
    "heads: batch in the wrong place": heads(shape=(1, 2, 32, 256)),
    "heads: row-major": heads(layout="ROW_MAJOR_LAYOUT"),
    "heads: three dimensions": heads(shape=(1, 32, 256)),
    "heads: head_dim of 16": heads(width=128),
    "heads: head_dim of 48": heads(width=384),
    "heads: no kv heads": heads(num_kv_heads=0),
    "concat heads": lambda t, d: t.experimental.nlp_concat_heads(tensor(t, d, 1, 4, 32, 64)),
    "concat heads: three dimensions": lambda t, d: t.experimental.nlp_concat_heads(tensor(t, d, 4, 32, 64)),
    "concat heads: row-major": lambda t, d: t.experimental.nlp_concat_heads(
        tensor(t, d, 1, 4, 32, 64, layout="ROW_MAJOR_LAYOUT")
    ),
    "concat heads: head_dim of 48": lambda t, d: t.experimental.nlp_concat_heads(tensor(t, d, 1, 4, 32, 48)),
    "concat heads: host": lambda t, d: t.experimental.nlp_concat_heads(host(t, 1, 4, 32, 64)),
    "rope": rope(),
    "rope: longer tables": rope(cos=(1, 1, 64, 64)),
    "rope: shorter tables": rope(x=(1, 2, 64, 64)),
    "rope: table width": rope(cos=(1, 1, 32, 32)),
    "rope: tables differ": rope(sin=(1, 1, 64, 64)),
    "rope: head_dim of 96": rope(x=(1, 2, 32, 96), cos=(1, 1, 32, 96)),
    "rope: head_dim of 32": rope(x=(1, 2, 32, 32), cos=(1, 1, 32, 32)),
    "rope: batch of 2": rope(x=(2, 2, 32, 64)),
    "rope: three dimensions": rope(x=(2, 32, 64)),
    "rope: bfp8 input": rope(dtype="bfloat8_b"),
    "rope: fp32 input": rope(dtype="float32"),
    "rope: tables per head": rope(cos=(1, 2, 32, 64)),
    "fill": fill(),
    "fill: offset not a multiple of a tile": fill(at=16),
    "fill: negative offset": fill(at=-32),
    "fill: beyond the cache": fill(at=128),
    "fill: reaching beyond the cache": fill(rows=(1, 2, 64, 64), at=96),
    "fill: batch index": fill(batch=1),
    "fill: input batch": fill(rows=(2, 2, 32, 64)),
    "fill: heads differ": fill(rows=(1, 1, 32, 64)),
    "fill: head_dim differs": fill(rows=(1, 2, 32, 32)),
    "fill: dtypes differ": fill(dtypes=("bfloat8_b", "bfloat16")),
    "fill: bfp8": fill(dtypes=("bfloat8_b", "bfloat8_b")),
    "fill: three dimensions": fill(rows=(2, 32, 64)),
    "fill: deallocated cache": lambda t, d: t.fill_cache(
        gone(t, d, 1, 2, 128, 64), tensor(t, d, 1, 2, 32, 64), 0, update_idx=0
    ),
    "norm": norm(),
    "norm: weight width": norm(weight=(1, 1, 1, 32)),
    "norm: weight of 32 rows": norm(weight=(1, 1, 32, 64)),
    "norm: weight of 64 rows": norm(weight=(1, 1, 64, 64)),
    "norm: vector weight": norm(weight=(64,)),
    "norm: row-major input": norm(x_layout="ROW_MAJOR_LAYOUT"),
    "norm: row-major weight of one row": norm(weight_layout="ROW_MAJOR_LAYOUT"),
    "norm: width not a multiple of a tile": norm(x=(1, 1, 32, 48), weight=(1, 1, 1, 48)),
    "norm: bfp8 input": norm(dtype="bfloat8_b"),
    "norm: integer input": norm(dtype="int32"),
    "norm: host weight": lambda t, d: t.rms_norm(tensor(t, d, 1, 1, 32, 64), epsilon=1e-6, weight=host(t, 1, 1, 1, 64)),
    **{
        f"{op}: {what}": binary(op, a, b, **kinds)
        for op in ("add", "multiply")
        for what, (a, b, kinds) in {
            "legal": ((1, 1, 32, 64), (1, 1, 32, 64), {}),
            "row": ((1, 1, 32, 64), (1, 1, 1, 64), {}),
            "column": ((1, 1, 32, 64), (1, 1, 32, 1), {}),
            "fewer dimensions": ((1, 1, 32, 64), (32, 64), {}),
            "shapes differ": ((1, 1, 32, 64), (1, 1, 32, 32), {}),
            "row-major": ((1, 1, 32, 64), (1, 1, 32, 64), {"layout": "ROW_MAJOR_LAYOUT"}),
            "integers and bf16": ((1, 1, 32, 64), (1, 1, 32, 64), {"dtype": "int32"}),
        }.items()
    },
    "add: host": lambda t, d: t.add(tensor(t, d, 1, 1, 32, 64), host(t, 1, 1, 32, 64)),
    "add: deallocated": lambda t, d: t.add(tensor(t, d, 1, 1, 32, 64), gone(t, d, 1, 1, 32, 64)),
    "typecast: row-major to bfp8": lambda t, d: t.typecast(
        tensor(t, d, 1, 1, 32, 64, layout="ROW_MAJOR_LAYOUT"), t.bfloat8_b
    ),
    "copy": copy(),
    "copy: shapes differ": copy(target=(1, 1, 64, 64)),
    "copy: same volume": copy(source=(1, 1, 64, 32)),
    "copy: dtypes differ": copy(dtype="bfloat8_b"),
    "copy: from the device": lambda t, d: t.copy_host_to_device_tensor(
        tensor(t, d, 1, 1, 32, 64), tensor(t, d, 1, 1, 32, 64)
    ),
    "view: rows to heads": lambda t, d: t.view(tensor(t, d, 1, 2, 64, 64), (1, 1, 128, 64)),
    "view: other volume": lambda t, d: t.view(tensor(t, d, 1, 2, 64, 64), (1, 1, 64, 64)),
    "view: other width": lambda t, d: t.view(tensor(t, d, 1, 2, 64, 64), (1, 2, 32, 128)),
    "view: rows that break tiles": lambda t, d: t.view(tensor(t, d, 1, 2, 48, 64), (1, 1, 96, 64)),
    "view: rows into parts of tiles": lambda t, d: t.view(tensor(t, d, 1, 1, 96, 64), (1, 6, 16, 64)),
    "view: deallocated": lambda t, d: t.view(gone(t, d, 1, 2, 64, 64), (1, 1, 128, 64)),
    "address: deallocated": lambda t, d: gone(t, d, 1, 1, 32, 64).buffer_address(),
    "address: host": lambda t, d: host(t, 1, 1, 32, 64).buffer_address(),
    "deallocate: twice": lambda t, d: gone(t, d, 1, 1, 32, 64).deallocate(),
    "deallocate: host": lambda t, d: host(t, 1, 1, 32, 64).deallocate(),
    "from_torch: bfp8 in rows": lambda t, d: t.from_torch(
        torch.ones(1, 1, 32, 64), dtype=t.bfloat8_b, layout=t.ROW_MAJOR_LAYOUT, device=d
    ),
    "allocate: bfp8 in rows": lambda t, d: t.allocate_tensor_on_device(
        t.Shape([1, 1, 32, 64]), t.bfloat8_b, t.ROW_MAJOR_LAYOUT, d
    ),
    "allocate: beyond DRAM": lambda t, d: t.allocate_tensor_on_device(
        t.Shape([1, 1, 1 << 20, 1 << 15]), t.bfloat16, t.TILE_LAYOUT, d
    ),
    "execute: no such trace": lambda t, d: t.execute_trace(d, 99, cq_id=0, blocking=True),
}
