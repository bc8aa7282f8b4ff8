"""Values to device bytes and back: the dtypes and layouts of a tensor's pages.

A page of a TILE tensor is one 32x32 tile: four 16x16 faces (top left, top right, bottom left, bottom right), each row
by row. In the block floats 16 consecutive values of a face row share an exponent: the tile starts with its 64 exponent
bytes, then come the magnitudes with their signs, one byte each (bfp8, 1088 B) or two in a byte, the first in the low
half (bfp4, 576 B). A page of a ROW_MAJOR tensor is one row.

Three roundings lead into a format. ``HOST`` is ttnn's conversion on the host: half to even. ``PACKER`` is the device's
on its way out of the engine's registers: half away from zero, a block float's values to seven bits first, and bfp4 cuts
what bfp8 rounded. ``CAST`` is typecast's, which for bfp8 cuts to a bf16 instead of rounding to seven bits.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence

import torch

TILE = 32
FACE = 16
TILE_VALUES = TILE * TILE
EXPONENT_BYTES = TILE_VALUES // FACE
AT_ONCE = 256  # tiles of a block float: what they take on the way stays in the cache of a processor


class Named(enum.Enum):
    """An enum that prints as ttnn's do."""

    def __repr__(self) -> str:
        return str(self)


class DataType(Named):
    """ttnn's dtypes that the emulator models, with ttnn's numbers."""

    BFLOAT16 = 0
    FLOAT32 = 1
    UINT32 = 2
    BFLOAT8_B = 3
    BFLOAT4_B = 4
    UINT16 = 6
    INT32 = 7


class Layout(Named):
    """How a page is filled: rows or tiles."""

    ROW_MAJOR = 0
    TILE = 1


class Rounding(Named):
    """Who converts: ttnn on the host, the device's packer, or typecast on the device."""

    HOST = "host"
    PACKER = "packer"
    CAST = "cast"


BLOCK_BITS = {DataType.BFLOAT8_B: 8, DataType.BFLOAT4_B: 4}
# The torch dtype whose bytes a page of this dtype holds.
CARRIER = {
    DataType.BFLOAT16: torch.bfloat16,
    DataType.FLOAT32: torch.float32,
    DataType.UINT32: torch.int32,
    DataType.INT32: torch.int32,
    DataType.UINT16: torch.int16,
    DataType.BFLOAT8_B: torch.uint8,
    DataType.BFLOAT4_B: torch.uint8,
}
FLOATS = (DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B, DataType.BFLOAT4_B)
INTEGERS = (DataType.UINT32, DataType.INT32, DataType.UINT16)


def page_bytes(dtype: DataType, layout: Layout, width: int) -> int:
    """Bytes of one page: a tile, or a row of ``width`` values."""
    if dtype in BLOCK_BITS:
        return EXPONENT_BYTES + TILE_VALUES * BLOCK_BITS[dtype] // 8
    return CARRIER[dtype].itemsize * (TILE_VALUES if layout is Layout.TILE else width)


def page_count(padded_shape: Sequence[int], layout: Layout) -> int:
    """Pages of a tensor of this padded shape."""
    volume = math.prod(padded_shape)
    return volume // (TILE_VALUES if layout is Layout.TILE else (padded_shape[-1] if padded_shape else 1) or 1)


def padded(shape: Sequence[int], layout: Layout) -> tuple[int, ...]:
    """``shape`` with its last two dimensions rounded up to whole tiles where the layout asks for it."""
    if layout is Layout.ROW_MAJOR:
        return tuple(shape)
    full = (1,) * (2 - len(shape)) + tuple(shape)
    return (*full[:-2], -(-full[-2] // TILE) * TILE, -(-full[-1] // TILE) * TILE)


def to_tiles(values: torch.Tensor) -> torch.Tensor:
    """``[..., R, C]`` to ``[tiles, 1024]``, tiles row by row, each face by face."""
    rows, cols = values.shape[-2:]
    split = values.reshape(-1, rows // TILE, 2, FACE, cols // TILE, 2, FACE)
    return split.permute(0, 1, 4, 2, 5, 3, 6).reshape(-1, TILE_VALUES)


def from_tiles(tiles: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    """``[tiles, 1024]`` to ``shape``, the inverse of ``to_tiles``."""
    rows, cols = shape[-2:]
    split = tiles.reshape(-1, rows // TILE, cols // TILE, 2, 2, FACE, FACE)
    return split.permute(0, 1, 3, 5, 2, 4, 6).reshape(tuple(shape))


def encode(values: torch.Tensor, dtype: DataType, layout: Layout, rounding: Rounding) -> torch.Tensor:
    """Pages ``[n, page bytes / carrier itemsize]`` of ``values`` (already padded)."""
    if dtype not in BLOCK_BITS:
        values = round_to(values, dtype, rounding)
    if layout is Layout.ROW_MAJOR:
        return values.reshape(-1, values.shape[-1] if values.dim() else 1)
    tiles = to_tiles(values)
    if dtype not in BLOCK_BITS:
        return tiles
    return torch.cat([_pack_blocks(some.float(), BLOCK_BITS[dtype], rounding) for some in tiles.split(AT_ONCE)])


def decode(pages: torch.Tensor, shape: Sequence[int], dtype: DataType, layout: Layout) -> torch.Tensor:
    """Values of ``shape`` (padded) in ``pages``: bfloat16 for bf16 and the block floats, else the carrier's dtype."""
    if layout is Layout.ROW_MAJOR:
        return pages.reshape(tuple(shape))
    if dtype in BLOCK_BITS:
        pages = torch.cat([_unpack_blocks(some, BLOCK_BITS[dtype]) for some in pages.split(AT_ONCE)])
    return from_tiles(pages, shape)


def round_to(values: torch.Tensor, dtype: DataType, rounding: Rounding) -> torch.Tensor:
    """``values`` in the carrier dtype of a format that is no block float."""
    if dtype is DataType.BFLOAT16 and values.dtype is torch.float32 and rounding is not Rounding.HOST:
        values = torch.where(values.abs() < torch.finfo(torch.float32).tiny, 0.0, half_away(values, 8))
    return values.to(CARRIER[dtype])


def half_away(values: torch.Tensor, significand: int) -> torch.Tensor:
    """fp32 ``values`` rounded to ``significand`` bits, ties away from zero; still fp32."""
    half = 1 << (23 - significand)
    return (values.contiguous().view(torch.int32) + half).bitwise_and_(-2 * half).view(torch.float32)


def _pack_blocks(tiles: torch.Tensor, bits: int, rounding: Rounding) -> torch.Tensor:
    """fp32 ``[n, 1024]`` to bytes ``[n, 64 + 1024 * bits / 8]``."""
    if rounding is Rounding.CAST and bits == 8:
        tiles = (tiles.contiguous().view(torch.int32) & -0x10000).view(torch.float32)
    elif rounding is not Rounding.HOST:
        tiles = half_away(tiles, 7)
    raw = tiles.contiguous().view(torch.int32).view(len(tiles), EXPONENT_BYTES, FACE)
    exponent = (raw >> 23) & 0xFF
    shared = exponent.amax(-1, keepdim=True)
    shift = (shared - exponent).clamp_(max=31)
    magnitude = torch.where(exponent == 0, 0, (raw & 0x7FFFFF) | 0x800000)
    top = (1 << (bits - 1)) - 1
    cut = 25 - bits  # low bits of the 24-bit significand that the format drops
    if rounding is Rounding.HOST:
        magnitude >>= shift
        magnitude = (magnitude + ((1 << (cut - 1)) - 1) + ((magnitude >> cut) & 1)) >> cut
        magnitude = magnitude.clamp_(max=top)
    else:
        magnitude = ((magnitude >> 16) + (1 << shift.clamp(max=8))) >> (shift + 1)
        magnitude = magnitude.clamp_(max=127) >> (8 - bits)
    code = torch.where(magnitude > 0, magnitude | ((raw >> (32 - bits)) & (top + 1)), 0).to(torch.uint8)
    if bits == 4:
        code = code[..., 0::2] | (code[..., 1::2] << 4)
    return torch.cat([shared.to(torch.uint8).view(len(tiles), -1), code.reshape(len(tiles), -1)], 1)


_STEP = {
    bits: torch.tensor([2.0 ** (e - 127 - (bits - 2)) for e in range(256)], dtype=torch.float64).to(torch.bfloat16)
    for bits in (8, 4)
}


def _unpack_blocks(pages: torch.Tensor, bits: int) -> torch.Tensor:
    """Bytes to bf16 values ``[n, 1024]``; every value of a block float is a bf16 value."""
    step = _STEP[bits][pages[:, :EXPONENT_BYTES].int()].unsqueeze(-1)
    code = pages[:, EXPONENT_BYTES:]
    if bits == 4:
        code = torch.stack([code & 15, code >> 4], -1)
    code = code.reshape(len(pages), EXPONENT_BYTES, FACE)
    top = (1 << (bits - 1)) - 1
    values = (code & top).to(torch.bfloat16)
    return torch.where(code > top, -values, values).mul_(step).view(len(pages), TILE_VALUES)
