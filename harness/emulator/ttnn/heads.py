"""Moving heads: split the packed q, k, v, join heads, write rows of a cache. Whole tiles move; no value changes."""

from __future__ import annotations

from harness.emulator import formats
from harness.emulator.ttnn.checks import require, require_on_device, require_tile
from harness.emulator.ttnn.device import launch
from harness.emulator.ttnn.tensor import Tensor, like
from harness.emulator.ttnn.types import MemoryConfig


def nlp_create_qkv_heads(
    input: Tensor,
    *,
    num_heads: int,
    num_kv_heads: int | None = None,
    transpose_k_heads: bool = True,
    memory_config: MemoryConfig | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """``[B, 1, S, (num_heads + 2 num_kv_heads) head_dim]`` to q, k, v of ``[B, heads, S, head_dim]``."""
    op = "nlp_create_qkv_heads"
    n_kv = num_heads if num_kv_heads is None else num_kv_heads
    require_on_device(op, input=input)
    require_tile(op, input=input)
    require(not transpose_k_heads, f"{op}: transpose_k_heads=True is not modelled by the emulator")
    require(
        input.shape.rank == 4 and input.shape[1] == 1, f"{op}: the input must be [B, 1, S, width], not {input.shape}"
    )
    require(num_heads > 0, f"{op}: num_heads {num_heads} must be positive")
    require(n_kv > 0, f"{op}: num_kv_heads {n_kv} is not modelled by the emulator")
    batch, _, rows, width = input.shape
    require(
        width % (num_heads + 2 * n_kv) == 0,
        f"{op}: a width of {width} does not divide into {num_heads} + 2 x {n_kv} heads",
    )
    head_dim = width // (num_heads + 2 * n_kv)
    require(
        head_dim % formats.TILE == 0,
        f"{op}: head_dim {head_dim}, no multiple of {formats.TILE}, is not modelled by the emulator",
    )
    counts = (num_heads, n_kv, n_kv)
    q, k, v = (like(input, (batch, n, rows, head_dim), memory_config=memory_config) for n in counts)

    def compute(source: Tensor, *targets: Tensor) -> None:
        values = source.load()
        parts = values[:, 0].unflatten(-1, (-1, head_dim)).transpose(1, 2).split(counts, 1)
        for target, part in zip(targets, parts, strict=True):
            target.store(part)

    launch(op, [input], [q, k, v], compute, num_heads=num_heads, num_kv_heads=n_kv)
    return q, k, v


def nlp_concat_heads(input: Tensor, *, memory_config: MemoryConfig | None = None) -> Tensor:
    """``[B, heads, S, head_dim]`` to ``[B, 1, S, heads * head_dim]``."""
    op = "nlp_concat_heads"
    require_on_device(op, input=input)
    require_tile(op, input=input)
    require(input.shape.rank == 4, f"{op}: the input must be [B, heads, S, head_dim], not {input.shape}")
    batch, heads, rows, head_dim = input.shape
    require(
        head_dim % formats.TILE == 0,
        f"{op}: head_dim {head_dim}, no multiple of {formats.TILE}, is not modelled by the emulator",
    )
    result = like(input, (batch, 1, rows, heads * head_dim), memory_config=memory_config)

    def compute(source: Tensor, target: Tensor) -> None:
        target.store(source.load().transpose(1, 2).flatten(2).unsqueeze(1))

    launch(op, [input], [result], compute)
    return result


def fill_cache(cache_tensor: Tensor, input_tensor: Tensor, batch_idx: int, *, update_idx: int = 0) -> Tensor:
    """Write ``input [1, heads, n, head_dim]`` into rows ``[update_idx, update_idx + n)`` of ``cache[batch_idx]``."""
    op = "fill_cache"
    require_on_device(op, cache=cache_tensor, input=input_tensor)
    require_tile(op, cache=cache_tensor, input=input_tensor)
    cache, rows = cache_tensor.shape, input_tensor.shape
    require(cache.rank == 4 and rows.rank == 4, f"{op}: cache and input must have four dimensions")
    require(
        cache_tensor.dtype == input_tensor.dtype,
        f"{op}: the input is {input_tensor.dtype}, the cache {cache_tensor.dtype}; typecast the input",
    )
    require(rows[0] == 1, f"{op}: the input's batch must be 1, not {rows[0]}")
    require(
        rows[1] == cache[1] and rows[3] == cache[3],
        f"{op}: input {rows} and cache {cache} differ in heads or head_dim",
    )
    require(0 <= batch_idx < cache[0], f"{op}: batch_idx {batch_idx} is not in [0, {cache[0]})")
    require(
        update_idx >= 0 and update_idx % formats.TILE == 0,
        f"{op}: update_idx {update_idx} is not a multiple of {formats.TILE}",
    )
    n = input_tensor.padded_shape[2]
    require(
        update_idx + n <= cache_tensor.padded_shape[2],
        f"{op}: rows [{update_idx}, {update_idx + n}) do not fit a cache of {cache[2]} rows",
    )

    def compute(source: Tensor, target: Tensor) -> None:
        assert target.buffer is not None
        heads, width = cache[1], target.padded_shape[3] // formats.TILE
        tiles = source.read_pages().unflatten(0, (heads, -1))
        for head in range(heads):
            row = ((batch_idx * heads + head) * target.padded_shape[2] + update_idx) // formats.TILE
            target.buffer.write(tiles[head], first=row * width)

    launch(op, [input_tensor], [cache_tensor], compute, batch_idx=batch_idx, update_idx=update_idx)
    return cache_tensor
