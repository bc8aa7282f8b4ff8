"""The two attention ops over a whole cache: flash decode (keys split over cores) and the standard kernel."""

from __future__ import annotations

import math

import torch

from harness.emulator.formats import BLOCK_BITS, TILE, DataType
from harness.emulator.numerics import flash_decode, flash_streaming
from harness.emulator.numerics.config import MathFidelity, WormholeComputeKernelConfig
from harness.emulator.numerics.engine import Engine
from harness.emulator.ttnn.checks import require, require_on_device, require_tile
from harness.emulator.ttnn.device import launch
from harness.emulator.ttnn.tensor import Tensor, like
from harness.emulator.ttnn.types import CoreCoord, MemoryConfig, SDPAProgramConfig, core_coord

DTYPES = (DataType.BFLOAT16, *BLOCK_BITS)
MAX_CORES = 64  # of one head in flash decode
DEFAULT = WormholeComputeKernelConfig(math_fidelity=MathFidelity.HiFi2)


def scaled_dot_product_attention_decode(
    input_tensor_q: Tensor,
    input_tensor_k: Tensor,
    input_tensor_v: Tensor,
    *,
    is_causal: bool = True,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
    memory_config: MemoryConfig | None = None,
    program_config: SDPAProgramConfig | None = None,
    compute_kernel_config: WormholeComputeKernelConfig | None = None,
) -> Tensor:
    """q ``[1, b, heads, d]``, k and v ``[b, n_kv, s, d]``, mask ``[1, b or 1, heads, s]`` to ``[1, b, heads, d]``."""
    op = "scaled_dot_product_attention_decode"
    q, k, v = input_tensor_q, input_tensor_k, input_tensor_v
    _check_common(op, q, k, v, attn_mask, is_causal)
    batch, heads, dim = q.shape[1:]
    require(q.shape[0] == 1, f"{op}: q must be [1, users, rows, head_dim], not {q.shape}")
    require(k.shape[0] == batch, f"{op}: q has {batch} users, k {k.shape[0]}")
    require(k.shape[1] == 1, f"{op}: more than one kv head a user ({k.shape[1]}) is not modelled by the emulator")
    config = compute_kernel_config or DEFAULT
    engine = Engine.of(config, bf16_buffers=True)
    device = q.device()
    assert device is not None
    program = program_config or SDPAProgramConfig(
        compute_with_storage_grid_size=device.grid,
        q_chunk_size=TILE,
        k_chunk_size=math.gcd(k.shape[2], 512),
        max_cores_per_head_batch=device.grid.x * device.grid.y,
    )
    cores = _check_decode(op, batch, k.shape[2], program, device.grid)
    require(
        attn_mask is None or (attn_mask.shape[0] == 1 and attn_mask.shape[1] in (1, batch)),
        f"{op}: a mask of {attn_mask and attn_mask.shape} does not fit [1, 1 or {batch}, rows, keys]",
    )
    result = like(q, memory_config=memory_config)

    def compute(queries: Tensor, keys: Tensor, values: Tensor, *rest: Tensor) -> None:
        *mask, target = rest
        out = flash_decode.decode(
            queries.load()[0].float(),
            keys.load()[:, 0].float(),
            values.load()[:, 0].float(),
            mask[0].load()[0].float() if mask else None,
            dim**-0.5 if scale is None else scale,
            program.k_chunk_size,
            cores,
            program.exp_approx_mode is not False,
            engine,
        )
        target.store(out)

    inputs = [q, k, v] if attn_mask is None else [q, k, v, attn_mask]
    launch(op, inputs, [result], compute, scale=scale, program_config=program, compute_kernel_config=config)
    return result


def scaled_dot_product_attention(
    input_tensor_q: Tensor,
    input_tensor_k: Tensor,
    input_tensor_v: Tensor,
    *,
    attn_mask: Tensor | None = None,
    is_causal: bool = True,
    scale: float | None = None,
    memory_config: MemoryConfig | None = None,
    program_config: SDPAProgramConfig | None = None,
    compute_kernel_config: WormholeComputeKernelConfig | None = None,
) -> Tensor:
    """q ``[b, heads, sq, d]``, k and v ``[b, n_kv, s, d]``, mask ``[b or 1, heads or 1, sq, s]`` to q's shape."""
    op = "scaled_dot_product_attention"
    q, k, v = input_tensor_q, input_tensor_k, input_tensor_v
    _check_common(op, q, k, v, attn_mask, is_causal)
    batch, heads, rows, dim = q.shape
    require(k.shape[0] == batch, f"{op}: q has a batch of {batch}, k of {k.shape[0]}")
    require(heads % k.shape[1] == 0, f"{op}: {heads} query heads do not divide into {k.shape[1]} kv heads")
    config = compute_kernel_config or DEFAULT
    engine = Engine.of(config, bf16_buffers=True)
    device = q.device()
    assert device is not None
    program = program_config or SDPAProgramConfig(
        compute_with_storage_grid_size=device.grid, q_chunk_size=TILE, k_chunk_size=TILE
    )
    _check_standard(op, q, attn_mask, program, device.grid)
    result = like(q, memory_config=memory_config)

    def compute(queries: Tensor, keys: Tensor, values: Tensor, *rest: Tensor) -> None:
        *mask, target = rest
        n_kv = keys.shape[1]
        out = flash_streaming.attention(
            queries.load().float().reshape(batch * n_kv, -1, rows, dim),
            keys.load().float().reshape(batch * n_kv, 1, -1, dim),
            values.load().float().reshape(batch * n_kv, 1, -1, dim),
            _by_kv_head(mask[0].load().float(), batch, heads, n_kv) if mask else None,
            dim**-0.5 if scale is None else scale,
            program.q_chunk_size,
            program.k_chunk_size,
            program.exp_approx_mode is not False,
            engine,
        )
        target.store(out)

    inputs = [q, k, v] if attn_mask is None else [q, k, v, attn_mask]
    launch(op, inputs, [result], compute, scale=scale, program_config=program, compute_kernel_config=config)
    return result


def _by_kv_head(mask: torch.Tensor, batch: int, heads: int, n_kv: int) -> torch.Tensor:
    """The mask ``[b or 1, heads or 1, q, s]`` in the folded queries' shape, ``[b n_kv or 1, group or 1, q, s]``."""
    if mask.shape[:2] == (1, 1):
        return mask
    return mask.expand(batch, heads, -1, -1).unflatten(1, (n_kv, -1)).flatten(0, 1)


def _check_decode(op: str, batch: int, keys: int, program: SDPAProgramConfig, limit: CoreCoord) -> int:
    """Cores a head, once the program config is found legal."""
    chunk = program.k_chunk_size
    require(chunk > 0, f"{op}: k_chunk_size {chunk} is not modelled by the emulator; give a positive one")
    require(chunk & (chunk - 1) == 0, f"{op}: k_chunk_size {chunk} is not a power of two")
    require(keys % chunk == 0, f"{op}: k_chunk_size {chunk} does not divide {keys} keys")
    available = _grid_cores(op, program, limit)
    require(available >= batch, f"{op}: {batch} users need as many cores, the grid has {available}")
    cores = min(available // batch, program.max_cores_per_head_batch)
    require(cores <= MAX_CORES, f"{op}: {cores} cores a head; the tree that merges them has room for {MAX_CORES}")
    return cores


def _check_standard(op: str, q: Tensor, mask: Tensor | None, program: SDPAProgramConfig, limit: CoreCoord) -> None:
    for name in ("q_chunk_size", "k_chunk_size"):
        size = getattr(program, name)
        require(size > 0 and size % TILE == 0, f"{op}: {name} {size} is not a positive multiple of {TILE}")
    _grid_cores(op, program, limit)
    if mask is not None:
        for dim, name in ((0, "batch"), (1, "heads")):
            ours, theirs = mask.shape[dim], q.shape[dim]
            require(ours in (1, theirs), f"{op}: the mask's {name} is {ours}; it must be 1 or the query's {theirs}")


def _grid_cores(op: str, program: SDPAProgramConfig, limit: CoreCoord) -> int:
    grid = core_coord(program.compute_with_storage_grid_size)
    require(
        grid.x * grid.y <= limit.x * limit.y,
        f"{op}: a grid of {grid.x}x{grid.y} does not fit the device's {limit.x}x{limit.y}",
    )
    return grid.x * grid.y


def _check_common(op: str, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, is_causal: bool) -> None:
    require_on_device(op, q=q, k=k, v=v, mask=mask)
    require_tile(op, q=q, k=k, v=v, mask=mask)
    require(not (is_causal and mask is not None), f"{op}: a mask beside is_causal=True; pass is_causal=False")
    require(not is_causal, f"{op}: is_causal=True is not modelled by the emulator; pass is_causal=False")
    for name, tensor in {"q": q, "k": k, "v": v}.items():
        require(tensor.shape.rank == 4, f"{op}: {name} must have four dimensions, not {tensor.shape}")
        require(tensor.dtype in DTYPES, f"{op}: {name} is {tensor.dtype}; bf16, bfp8 and bfp4 are supported")
    require(k.shape == v.shape, f"{op}: k is {k.shape}, v is {v.shape}")
    require(q.shape[3] == k.shape[3], f"{op}: q has a head_dim of {q.shape[3]}, k of {k.shape[3]}")
    require(q.shape[3] % TILE == 0, f"{op}: head_dim {q.shape[3]} is not a multiple of {TILE}")
    require(
        q.shape[2] % TILE == 0 and k.shape[2] % TILE == 0,
        f"{op}: {q.shape[2]} query rows, {k.shape[2]} keys: rows in parts of a tile are not modelled by the emulator",
    )
    if mask is not None:
        require(mask.shape.rank == 4, f"{op}: the mask must have four dimensions, not {mask.shape}")
        require(
            mask.shape[2] == q.shape[2] and mask.shape[3] == k.shape[2],
            f"{op}: a mask of {mask.shape} does not fit {q.shape[2]} query rows and {k.shape[2]} keys",
        )
