"""Device bytes: layouts, the block floats' rounding and saturation, masks."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.emulator.formats import (
    BLOCK_BITS,
    CARRIER,
    DataType,
    Layout,
    Rounding,
    decode,
    encode,
    from_tiles,
    padded,
    page_bytes,
    page_count,
    to_tiles,
)

BLOCKS = sorted(BLOCK_BITS, key=lambda dtype: dtype.value)


def convert(values: torch.Tensor, dtype: DataType, rounding: Rounding = Rounding.HOST) -> torch.Tensor:
    """``values`` through the bytes and back."""
    pages = encode(values, dtype, Layout.TILE, rounding)
    assert pages.shape[1] * pages.element_size() == page_bytes(dtype, Layout.TILE, values.shape[-1])
    assert len(pages) == page_count(values.shape, Layout.TILE)
    return decode(pages, values.shape, dtype, Layout.TILE)


def one_block(values: list[float]) -> torch.Tensor:
    """A tile whose first sixteen values are ``values``, the rest zeros."""
    tile = torch.zeros(32, 32)
    tile[0, : len(values)] = torch.tensor(values)
    return tile


@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3))
def test_tiles_are_rows_of_faces(batch: int, high: int, wide: int) -> None:
    values = torch.arange(batch * high * wide * 1024).view(batch, 32 * high, 32 * wide)
    tiles = to_tiles(values)
    assert torch.equal(from_tiles(tiles, values.shape), values)
    tile, face, row, col = len(tiles) - 1, 2, 5, 7
    where = (tile // (high * wide), tile // wide % high * 32 + 16 + row, tile % wide * 32 + col)
    assert tiles[tile, face * 256 + row * 16 + col] == values[where]


@pytest.mark.parametrize("dtype", sorted(CARRIER, key=lambda dtype: dtype.value))
def test_values_of_the_format_survive(dtype: DataType) -> None:
    values = torch.randint(-7, 8, (2, 64, 96)).to(torch.float32 if dtype in BLOCK_BITS else CARRIER[dtype])
    values[:, :, ::16] = 7
    for rounding in Rounding:
        assert torch.equal(convert(values, dtype, rounding).float(), values.float())
    if dtype not in BLOCK_BITS:
        rows = encode(values, dtype, Layout.ROW_MAJOR, Rounding.HOST)
        assert rows.shape == (128, 96)
        assert torch.equal(decode(rows, values.shape, dtype, Layout.ROW_MAJOR), values)


def test_padding() -> None:
    assert padded((1, 1, 33, 5), Layout.TILE) == (1, 1, 64, 32)
    assert padded((7,), Layout.TILE) == (32, 32)
    assert padded((33, 5), Layout.ROW_MAJOR) == (33, 5)


@settings(max_examples=60, deadline=None)
@given(
    dtype=st.sampled_from(BLOCKS),
    exponent=st.integers(-90, 90),
    values=st.lists(st.floats(-1, 1, width=32), min_size=16, max_size=16),
)
def test_a_block_is_rounded_to_the_step_of_its_largest_value(
    dtype: DataType, exponent: int, values: list[float]
) -> None:
    tile = one_block(values).bfloat16().float() * 2.0**exponent
    top = tile.abs().max().item()
    out = convert(tile, dtype).float()
    if top < 2.0**-100:
        return
    steps = 2 ** (BLOCK_BITS[dtype] - 1) - 1
    step = 2.0 ** (math.floor(math.log2(top)) - BLOCK_BITS[dtype] + 2)
    wanted = (tile / step).round().clamp(-steps, steps) * step  # torch rounds half to even
    assert torch.equal(out, wanted)


@pytest.mark.parametrize(
    ("dtype", "values", "host", "packer"),
    [
        # ties: the step is 1/64 for bfp8 and 1/4 for bfp4
        (DataType.BFLOAT8_B, [1.0, 2.5 / 64, 1.5 / 64], [1.0, 2 / 64, 2 / 64], [1.0, 3 / 64, 2 / 64]),
        (DataType.BFLOAT4_B, [1.0, 0.375, 0.625, 0.73], [1.0, 0.5, 0.5, 0.75], [1.0, 0.25, 0.5, 0.5]),
        # saturation: the largest magnitude has no room to round up
        (DataType.BFLOAT8_B, [1.9921875], [127 / 64], [2.0]),
        (DataType.BFLOAT4_B, [1.9375, 1.0], [1.75, 1.0], [1.75, 1.0]),
        # a negative value that rounds to nothing leaves no sign behind
        (DataType.BFLOAT4_B, [1.0, -0.01], [1.0, 0.0], [1.0, 0.0]),
    ],
)
def test_rounding_on_host_and_device(
    dtype: DataType, values: list[float], host: list[float], packer: list[float]
) -> None:
    for rounding, wanted in ((Rounding.HOST, host), (Rounding.PACKER, packer)):
        out = convert(one_block(values), dtype, rounding)[0, : len(values)]
        assert out.tolist() == wanted
        assert not (out == 0).logical_and(out.signbit()).any()


def test_mask_values() -> None:
    mask = one_block([0.0, -1e9] * 8)
    assert convert(mask, DataType.BFLOAT4_B)[0, :2].tolist() == [0.0, -939524096.0]
    assert convert(mask, DataType.BFLOAT8_B)[0, :2].tolist() == [0.0, -998244352.0]
    assert convert(mask, DataType.BFLOAT16)[0, :2].tolist() == [0.0, -998244352.0]


def test_where_the_bytes_of_a_block_float_tile_are() -> None:
    tile = torch.zeros(32, 32)
    tile[17, 20] = -3.0  # face 3, row 1, column 4
    tile[17, 21] = 2.0
    bfp8 = encode(tile, DataType.BFLOAT8_B, Layout.TILE, Rounding.HOST)[0]
    bfp4 = encode(tile, DataType.BFLOAT4_B, Layout.TILE, Rounding.HOST)[0]
    at = 3 * 256 + 16 + 4
    assert (len(bfp8), len(bfp4)) == (1088, 576)
    assert bfp8[3 * 16 + 1] == bfp4[3 * 16 + 1] == 128, "the exponent of 2 to 4"
    assert bfp8.count_nonzero() == 3 and bfp4.count_nonzero() == 2
    assert bfp8[64 + at : 64 + at + 2].tolist() == [0x80 | 96, 64]
    assert bfp4[64 + at // 2] == (4 << 4 | 0x8 | 6), "the first value in the low half"


def test_bf16_ties_go_to_even_on_the_host_and_away_on_the_device() -> None:
    values = torch.full((32, 32), 1 + 2**-8)
    assert convert(values, DataType.BFLOAT16, Rounding.HOST)[0, 0] == 1
    assert convert(values, DataType.BFLOAT16, Rounding.PACKER)[0, 0] == 1 + 2**-7
