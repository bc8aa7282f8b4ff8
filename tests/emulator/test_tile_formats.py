"""Unpack and pack against formulas written independently in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emulator.tile_cases import tile_bytes
from tests.emulator.tile_core import Core, Dest, Format, core

BF16, F32, BFP8, BFP4, U16 = Format.Float16_b, Format.Float32, Format.Bfp8_b, Format.Bfp4_b, Format.UInt16


@pytest.fixture(scope="module")
def tile() -> Core:
    return core()


def faces(matrix: np.ndarray) -> np.ndarray:
    """A 32x32 matrix in face order."""
    return matrix.reshape(2, 16, 2, 16).swapaxes(1, 2).reshape(-1)


def matrix(words: np.ndarray) -> np.ndarray:
    """A tile in face order as a 32x32 matrix."""
    return words.reshape(2, 2, 16, 16).swapaxes(1, 2).reshape(32, 32)


def dest_of(words: np.ndarray) -> Dest:
    dest = Dest()
    dest.word[:] = words
    dest.rows[:] = np.uint64(0xFFFFFFFFFFFFFFFF)
    return dest


def as_float(words: np.ndarray) -> np.ndarray:
    return words.astype(np.uint32).view(np.float32).astype(np.float64)


seeds = st.integers(0, 10**6)


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_fp32_dest_to_bf16_rounds_halves_away_from_zero(seed: int) -> None:
    words = np.random.default_rng(seed).integers(0, 1 << 32, 1024).astype(np.uint32)
    words[::7] = (words[::7] & 0xFFFF0000) | 0x8000  # halves
    words[(words & 0x7F800000) == 0x7F800000] = 0x3F800000
    got = as_float(core().pack(dest_of(words), True, BF16).view(np.uint16).astype(np.uint32) << 16)
    exact = as_float(words)
    magnitude = np.abs(exact)
    unit = 2.0 ** (np.maximum(np.floor(np.log2(np.where(magnitude == 0, 1, magnitude))), -126) - 7)
    want = np.sign(exact) * np.floor(magnitude / unit + 0.5) * unit
    want[np.abs(want) < 2.0**-126] = 0
    want[np.abs(want) >= 2.0**128] *= np.inf
    np.testing.assert_array_equal(got, want)


def test_narrow_dest_packs_bf16_unchanged_but_for_nan_and_denormals(tile: Core) -> None:
    halves = np.arange(1 << 16, dtype=np.uint32)
    for start in range(0, 1 << 16, 1024):
        x = halves[start : start + 1024]
        got = tile.pack(dest_of(x << 16), False, BF16).view(np.uint16)
        magnitude = x & 0x7FFF
        want = np.where(magnitude > 0x7F80, (x & 0x8000) | 0x7F80, np.where(magnitude < 0x80, 0, x))
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("fmt", [BF16, BFP8, BFP4])
@pytest.mark.parametrize("wide", [False, True])
def test_a_datum_that_the_format_holds_survives_the_round_trip(tile: Core, fmt: Format, wide: bool) -> None:
    # Small integers over one exponent range: exact in bf16, in 7 and in 3 mantissa bits.
    values = np.random.default_rng(1).integers(-7, 8, (32, 32)).astype(np.float32)
    values[:, ::16] = 7  # so that every block has the same exponent
    dest = dest_of(faces(values).view(np.uint32))
    data = tile.pack(dest, wide, fmt)
    assert data.size == tile.tile_bytes(fmt)
    np.testing.assert_array_equal(matrix(as_float(tile.unpack(data, fmt, wide))), values)


def test_faces_lie_one_after_another_row_by_row(tile: Core) -> None:
    values = np.arange(1024, dtype=np.uint32).reshape(32, 32)
    dest = dest_of(faces(values))
    data = tile.pack(dest, True, Format.UInt32).view(np.uint32)
    assert data[0] == values[0, 0] and data[16] == values[1, 0]
    assert data[256] == values[0, 16] and data[512] == values[16, 0] and data[768 + 17] == values[17, 17]
    turned = faces(values).copy()
    tile.transpose(turned)
    np.testing.assert_array_equal(matrix(turned), values.T)


def block_encode(x: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Shared exponents and signed mantissas of rows of 16 bf16 values, by arithmetic instead of by shifts."""
    magnitude = np.abs(x)
    top = np.floor(np.log2(magnitude.max(1))).astype(int)
    scaled = magnitude / 2.0 ** (top[:, None] - 6)  # the largest lies in [64, 128)
    seven = np.minimum(np.floor(scaled + 0.5), 127)
    mantissa = np.floor(seven / 2 ** (7 - bits))
    return top + 127, np.sign(x) * mantissa


@pytest.mark.parametrize("fmt, bits", [(BFP8, 7), (BFP4, 3)])
@settings(max_examples=20, deadline=None)
@given(seed=seeds)
def test_block_formats_share_the_largest_exponent_round_and_saturate(fmt: Format, bits: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    words = (rng.integers(0x3C00, 0x4080, 1024) << 16 | rng.integers(0, 2, 1024) << 31).astype(np.uint32)
    words[::5] |= 0x7F0000
    data = core().pack(dest_of(words), False, fmt, precise=True)
    exponent, mantissa = block_encode(as_float(words).reshape(64, 16), bits)
    np.testing.assert_array_equal(data[:64], exponent)
    raw = data[64:] if bits == 7 else np.stack([data[64:] & 15, data[64:] >> 4], 1).reshape(-1)
    sign = np.where(raw >> bits, -1, 1)
    np.testing.assert_array_equal(sign * (raw & ((1 << bits) - 1)).astype(int), mantissa.reshape(-1))
    # Unpacking is exact.
    back = as_float(core().unpack(data, fmt, False)).reshape(64, 16)
    np.testing.assert_array_equal(back, mantissa * 2.0 ** (exponent[:, None] - 127 - bits + 1))


def test_default_block_packing_loses_a_bit_before_the_blocks_are_formed(tile: Core) -> None:
    words = np.full(1024, 0x3F810000, np.uint32)  # 1 + 2^-7: a half in 6 fraction bits
    assert set(tile.pack(dest_of(words), False, BFP8)[64:]) == {65}
    words[:] = 0x3F830000  # 1 + 3 * 2^-7
    assert set(tile.pack(dest_of(words), False, BFP8)[64:]) == {66}


def test_negative_zero_of_a_block_is_minus_infinity(tile: Core) -> None:
    data = np.concatenate([np.full(64, 127, np.uint8), np.full(1024, 0x80, np.uint8)])
    assert set(tile.unpack(data, BFP8, False)) == {0xFF800000}


def test_float32_buffers_lose_low_bits_without_rounding(tile: Core) -> None:
    words = np.random.default_rng(2).integers(0x00800000, 0x7F800000, 1024).astype(np.uint32)
    np.testing.assert_array_equal(tile.unpack(words.view(np.uint8), F32, True), words & 0xFFFFE000)
    np.testing.assert_array_equal(tile.unpack(words.view(np.uint8), F32, False), words & 0xFFFF0000)


def test_integers_pass_both_widths(tile: Core) -> None:
    shorts = np.random.default_rng(3).integers(0, 1 << 16, 1024).astype(np.uint16)
    dest = Dest()
    tile.copy(dest, tile.unpack(shorts.view(np.uint8), U16, False), U16, False)
    np.testing.assert_array_equal(tile.pack(dest, False, U16).view(np.uint16), shorts)
    tile.copy(dest, tile.unpack(shorts.view(np.uint8), U16, True), U16, True)
    np.testing.assert_array_equal(dest.word, shorts)


@pytest.mark.parametrize("mask, kept", [(1, np.s_[:, ::16]), (2, np.s_[::16, :]), (3, np.s_[::16, ::16])])
def test_masks_keep_the_datums_of_a_reduction(tile: Core, mask: int, kept: tuple) -> None:
    got = matrix(tile.pack(dest_of(np.full(1024, 0x3F800000, np.uint32)), True, F32, mask).view(np.uint32))
    want = np.zeros((32, 32), np.uint32)
    want[kept] = 0x3F800000
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("out, wide", [(F32, True), (BF16, False)])
def test_accumulating_packs_add_to_memory(tile: Core, out: Format, wide: bool) -> None:
    first, second = (as_float(tile.unpack(tile_bytes(BF16, 0, s), BF16, False)).astype(np.float32) for s in (1, 2))
    start = tile.pack(dest_of(first.view(np.uint32)), wide, out)
    data = tile.pack(dest_of(second.view(np.uint32)), wide, out, onto=start)
    got = as_float(data.view(np.uint32) if out == F32 else data.view(np.uint16).astype(np.uint32) << 16)
    exact = first.astype(np.float64) + second
    step = 2.0 ** (np.floor(np.log2(np.maximum(np.abs(exact), 2.0**-100))) - (23 if out == F32 else 7))
    assert np.all(np.abs(got - exact) <= step / 2)


def test_poison_of_fresh_memory_is_found(tile: Core) -> None:
    for fmt in (BF16, F32, BFP8, BFP4):
        data = tile_bytes(fmt, 0, 5).copy()
        if fmt in (BFP8, BFP4):
            data[:64] = 127
        assert tile.first_poisoned(data, fmt) == -1
        size = {BF16: 2, F32: 4}.get(fmt, 1)
        if fmt in (BFP8, BFP4):
            data[64:] = 0
            data[700 // 16] = 0xFF
            data[64 + (700 if fmt == BFP8 else 350)] = 0xFF
        else:
            data[700 * size : 701 * size] = 0xFF
        assert tile.first_poisoned(data, fmt) == 700
