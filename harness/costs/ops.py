"""From a recorded call to the programs that ttnn 0.81.1 launches for it."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING

from harness.costs import attention, dataflow, matmul, rowwise
from harness.costs.attention import Attention
from harness.costs.matmul import Blocking
from harness.costs.program import Program
from harness.dtypes import TILE_BYTES
from harness.shape import TILE

if TYPE_CHECKING:
    from harness.targets import OpCall
    from harness.targets.recorder import TensorInfo

Grid = tuple[int, int]
Programs = tuple[Program, ...] | None
SILU = "silu"


def programs(call: OpCall, grid: Grid, older: bool = False) -> Programs:
    """What `call` launches on a grid of x, y cores; None for an op without a cost (kernels of one's own among them).

    older: as in the ttnn of the published times, where three ops had another structure.
    """
    build = ({**_OPS, **_OLDER} if older else _OPS).get(call.name)
    tensors = (*call.inputs, *call.outputs)
    tiled = all(t.dtype in TILE_BYTES and len(t.shape) >= 2 for t in tensors)
    return build(call, grid) if build and call.inputs and tiled else None


def _rows(t: TensorInfo) -> int:
    """Tile rows of all matrices of a tensor."""
    return prod(t.shape[:-2]) * -(-t.shape[-2] // TILE)


def _width(t: TensorInfo) -> int:
    return -(-t.shape[-1] // TILE)


def _page(t: TensorInfo) -> int:
    return TILE_BYTES[t.dtype]


def _linear(call: OpCall, grid: Grid) -> Programs:
    x, w, out = call.inputs[0], call.inputs[1], call.outputs[0]
    config, how, silu = call.kwargs.get("program_config"), None, call.kwargs.get("activation") == SILU
    if config is not None:
        if not getattr(config, "mcast_in0", False):  # another kernel than the 1-D multicast of in0
            return None
        how = Blocking(config.in0_block_w, config.per_core_N, config.fused_activation is not None)
    return matmul.linear(_rows(x), _width(x), _width(w), x.dtype, w.dtype, out.dtype, how, silu, grid)


def _rms_norm(call: OpCall, grid: Grid) -> Programs:
    x = call.inputs[0]
    return (rowwise.rms_norm(_rows(x), _width(x), _page(x), grid),)


def _rope(call: OpCall, grid: Grid) -> Programs:
    x = call.inputs[0]
    return (rowwise.rope(_rows(x), _width(x), _page(x), grid),)


def _elementwise(call: OpCall, grid: Grid) -> Programs:
    out = call.outputs[0]
    return (rowwise.elementwise(_rows(out) * _width(out), [_page(t) for t in call.inputs], _page(out), grid),)


def _heads(call: OpCall) -> tuple[int, int, int, int]:
    """Heads, tile rows, tiles of a head and page bytes of the side of a split or concat that has heads."""
    sides = call.outputs if len(call.outputs) > 1 else call.inputs[:1]
    rows = -(-sides[0].shape[-2] // TILE)
    return sum(map(_rows, sides)) // rows, rows, _width(sides[0]), _page(sides[0])


def _split_or_concat(call: OpCall, grid: Grid) -> Programs:
    return (dataflow.split_or_concat(*_heads(call), grid),)


def _split_or_concat_older(call: OpCall, grid: Grid) -> Programs:
    return (dataflow.split_or_concat_older(*_heads(call), grid),)


def _fill(call: OpCall, grid: Grid) -> Programs:
    own = call.inputs[1]
    return (dataflow.fill_cache(_rows(own), 1, _width(own), _page(own), grid),)


def _is_masked(call: OpCall) -> bool:
    """Attention as the formulas have it: query, key, value, mask, and a config."""
    return len(call.inputs) == 4 and call.kwargs.get("program_config") is not None


def _decode(call: OpCall, grid: Grid) -> Programs:
    if not _is_masked(call):
        return None
    q, k, _, mask = call.inputs
    config = call.kwargs["program_config"]
    a = Attention(
        units=k.shape[0], rows=-(-q.shape[2] // TILE), width=_width(q), cache_rows=k.shape[2] // TILE,
        chunk=config.k_chunk_size // TILE, cache=k.dtype, mask=mask.dtype,
    )  # fmt: skip
    return (attention.decode(a, config.max_cores_per_head_batch, grid),)


def _standard_sizes(call: OpCall) -> tuple[Attention, int]:
    """The sizes, and into how many chunks the queries of a head are cut."""
    q, k, _, mask = call.inputs
    config = call.kwargs["program_config"]
    chunks = -(-q.shape[2] // config.q_chunk_size)
    a = Attention(
        units=q.shape[1] * chunks, rows=config.q_chunk_size // TILE, width=_width(q), cache_rows=k.shape[2] // TILE,
        chunk=config.k_chunk_size // TILE, cache=k.dtype, mask=mask.dtype,
    )  # fmt: skip
    return a, chunks


def _standard(call: OpCall, grid: Grid) -> Programs:
    # The chunks of queries of a head share what one of their cores reads.
    return (attention.standard(*_standard_sizes(call), grid),) if _is_masked(call) else None


def _standard_older(call: OpCall, grid: Grid) -> Programs:
    return (attention.standard(_standard_sizes(call)[0], 1, grid),) if _is_masked(call) else None


_OPS: dict[str, Callable[[OpCall, Grid], Programs]] = {
    "linear": _linear,
    "rms_norm": _rms_norm,
    "add": _elementwise,
    "multiply": _elementwise,
    "typecast": _elementwise,
    "fill_cache": _fill,
    "experimental.rotary_embedding_hf": _rope,
    "experimental.nlp_create_qkv_heads": _split_or_concat,
    "experimental.nlp_concat_heads": _split_or_concat,
    "transformer.scaled_dot_product_attention_decode": _decode,
    "transformer.scaled_dot_product_attention": _standard,
}
_OLDER: dict[str, Callable[[OpCall, Grid], Programs]] = {
    "experimental.nlp_create_qkv_heads": _split_or_concat_older,
    "experimental.nlp_concat_heads": _split_or_concat_older,
    "transformer.scaled_dot_product_attention": _standard_older,
}
