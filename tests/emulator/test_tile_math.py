"""FPU and SFPU of the tile core against formulas written independently in numpy's doubles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emulator.test_tile_formats import as_float, faces, matrix
from tests.emulator.tile_core import Core, Dest, Format, build, core, cpu_level

BF16 = Format.Float16_b
WIDTHS = [False, True]


@pytest.fixture(scope="module")
def tile() -> Core:
    return core()


def sample(rng: np.random.Generator, low: int = 121, high: int = 130) -> np.ndarray:
    """A tile of bf16 values in face order with exponents in a range and some zeros."""
    words = rng.integers(0, 2, 1024) << 31 | rng.integers(low, high, 1024) << 23 | rng.integers(0, 128, 1024) << 16
    words[rng.integers(0, 20, 1024) == 0] = 0
    return words.astype(np.uint32)


# -- the model of the FPU: real numbers and explicit roundings


def power(x: np.ndarray) -> np.ndarray:
    """Exponent of each number; far below all others for zero."""
    return np.where(x == 0, -1000, np.frexp(np.where(x == 0, 1, x))[1] - 1)


def away(x: np.ndarray, unit: np.ndarray) -> np.ndarray:
    return np.sign(x) * np.floor(np.abs(x) / unit + 0.5) * unit


def up(x: np.ndarray, unit: np.ndarray) -> np.ndarray:
    return np.floor(x / unit + 0.5) * unit


def parts(x: np.ndarray, high: int, low: int, skipped: int) -> tuple[np.ndarray, np.ndarray]:
    """The leading `high` bits of each number, and the `low` bits that begin `skipped` bits after the leading one."""
    unit = 2.0 ** power(x)
    first = np.trunc(x / unit * 2 ** (high - 1)) / 2 ** (high - 1) * unit
    rest = x - np.trunc(x / unit * 2**skipped) / 2**skipped * unit
    return first, np.trunc(rest / unit * 2 ** (skipped + low)) / 2 ** (skipped + low) * unit


def add_to_dest(dest: np.ndarray, sums: list[tuple[np.ndarray, np.ndarray]], wide: bool) -> np.ndarray:
    """`sums` are values with the exponents they are aligned at."""
    top = np.maximum.reduce([power(dest), *[e for _, e in sums]])
    units = [2.0 ** (top - 23)] + ([] if wide else [2.0 ** (top - 10)])
    for unit in units:
        dest = away(dest, unit)
        sums = [(up(s, unit), e) for s, e in sums]
    total = dest + sum(s for s, _ in sums)
    return away(total, 2.0 ** (power(total) - (23 if wide else 7)))


def matmul_model(in0: np.ndarray, in1: np.ndarray, phases: int, wide: bool) -> np.ndarray:
    a, b = parts(in1, 5, 5, 4), parts(in0, 7, 4, 6)
    exponents = power(in0)[:, :, None] + power(in1)[None]
    dest = np.zeros((32, 32))
    for phase in range(phases):
        weight = (5 if phase & 1 else 0) + (7 if phase & 2 else 0)
        product = b[phase >> 1][:, :, None] * a[phase & 1][None]
        for start in range(0, 32, 16):
            sums = []
            for group in (start, start + 8):
                e = exponents[:, group : group + 8].max(1) - weight
                rounded = away(product[:, group : group + 8], 2.0 ** (e[:, None] - 10))
                sums.append((rounded.sum(1), e))
            dest = add_to_dest(dest, sums, wide)
    return dest


@pytest.mark.parametrize("wide", WIDTHS)
@pytest.mark.parametrize("phases", [1, 2, 3, 4])
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_matmul_follows_the_model_of_phases_groups_and_roundings(wide: bool, phases: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    in0, in1 = sample(rng), sample(rng, 100, 150)
    dest = Dest()
    core().matmul(dest, in0, in1, phases, wide)
    want = matmul_model(matrix(as_float(in0)), matrix(as_float(in1)), phases, wide)
    np.testing.assert_array_equal(matrix(as_float(dest.word)), want)


@pytest.mark.parametrize("wide", WIDTHS)
def test_matmul_beyond_the_range_of_floats_scales_like_any_other(tile: Core, wide: bool) -> None:
    # The same numbers times powers of two take the integer path of the core and must give the same mantissas.
    rng = np.random.default_rng(4)
    in0, in1 = sample(rng, 110, 120), sample(rng, 110, 120)
    near, far = Dest(), Dest()
    tile.matmul(near, in0, in1, 4, wide)
    scaled = np.where(in0 == 0, 0, in0 + (127 << 23)).astype(np.uint32)
    tile.matmul(far, scaled, in1, 4, wide)
    want = np.where(near.word == 0, 0, near.word + (127 << 23)).astype(np.uint32)
    np.testing.assert_array_equal(far.word, want)


@pytest.mark.parametrize("wide", WIDTHS)
@pytest.mark.parametrize("phases", [1, 2, 3, 4])
def test_products_follow_the_model_of_phases(tile: Core, wide: bool, phases: int) -> None:
    rng = np.random.default_rng(phases)
    x, y, dest = sample(rng), sample(rng), Dest()
    tile.binary(2, dest, x, y, wide, phases)
    a, b = parts(as_float(x), 5, 5, 4), parts(as_float(y), 7, 4, 6)
    want = np.zeros(1024)
    for phase in range(phases):
        e = power(as_float(x)) + power(as_float(y)) - (5 if phase & 1 else 0) - (7 if phase & 2 else 0)
        want = add_to_dest(want, [(a[phase & 1] * b[phase >> 1], e)], wide)
    np.testing.assert_array_equal(as_float(dest.word), want)


@pytest.mark.parametrize("wide", WIDTHS)
@pytest.mark.parametrize("op", [0, 1])
def test_sums_round_the_smaller_operand_to_eleven_bits(tile: Core, op: int, wide: bool) -> None:
    rng = np.random.default_rng(op)
    x, y, dest = sample(rng), sample(rng), Dest()
    tile.binary(op, dest, x, y, wide)
    a, b = as_float(x), as_float(y) * (-1 if op else 1)
    e = np.maximum(power(a), power(b))
    total = away(a, 2.0 ** (e - 10)) + away(b, 2.0 ** (e - 10))
    np.testing.assert_array_equal(as_float(dest.word), add_to_dest(np.zeros(1024), [(total, e)], wide))


@pytest.mark.parametrize("broadcast, spread", [(1, np.s_[:1, :]), (2, np.s_[:, :1]), (3, np.s_[:1, :1])])
def test_broadcasts_spread_the_first_row_column_or_datum(tile: Core, broadcast: int, spread: tuple) -> None:
    rng = np.random.default_rng(broadcast)
    x, y = sample(rng), sample(rng)
    got, want = Dest(), Dest()
    tile.binary(0, got, x, y, True, broadcast=broadcast)
    full = faces(np.ascontiguousarray(np.broadcast_to(matrix(y)[spread], (32, 32))))
    tile.binary(0, want, x, full, True)
    np.testing.assert_array_equal(got.word, want.word)


def test_products_add_to_dest_and_sums_do_so_on_request(tile: Core) -> None:
    one = np.full(1024, 0x3F800000, np.uint32)
    dest = Dest()
    for expected in (1.0, 2.0, 3.0):
        tile.binary(2, dest, one, one, True)
        assert set(as_float(dest.word)) == {expected}
    tile.binary(0, dest, one, one, True, accumulate=True)
    assert set(as_float(dest.word)) == {5.0}
    tile.binary(0, dest, one, one, True)
    assert set(as_float(dest.word)) == {2.0}


@pytest.mark.parametrize("op, reuse, want", [(1, 0, 3 - 5), (1, 1, 5 - 3), (2, 0, 15), (2, 1, 15), (0, 0, 8)])
def test_dest_as_an_operand(tile: Core, op: int, reuse: int, want: float) -> None:
    dest = Dest()
    dest.word[:] = np.float32(3).view(np.uint32)
    other = np.full(1024, np.float32(5).view(np.uint32))
    tile.binary_reuse(op, dest, other, BF16, reuse, True)
    assert set(as_float(dest.word)) == {want}


@pytest.mark.parametrize("wide", WIDTHS)
def test_a_row_sum_is_a_product_with_a_column_of_scalers(tile: Core, wide: bool) -> None:
    rng = np.random.default_rng(7)
    x, scalers = sample(rng), np.zeros((32, 32), np.uint32)
    scalers[0] = scalers[16] = 0x3E800000
    got, want = Dest(), Dest()
    for _ in range(2):  # a second tile adds to the first
        tile.reduce(0, 0, got, x, faces(scalers), BF16, wide)
        column = np.zeros((32, 32), np.uint32)
        column[:, 0] = 0x3E800000
        tile.matmul(want, x, faces(column), 4, wide)
    np.testing.assert_array_equal(matrix(got.word)[:, 0], matrix(want.word)[:, 0])


@pytest.mark.parametrize("dim, axis", [(0, 1), (1, 0), (2, None)])
def test_maxima(tile: Core, dim: int, axis: int | None) -> None:
    rng = np.random.default_rng(dim)
    first, second = sample(rng), sample(rng)
    one = np.full(1024, 0x3F800000, np.uint32)
    first |= 1 << 31  # all negative: a cleared DEST must not count as zero
    dest, values = Dest(), []
    for x in (first, second):
        tile.reduce(2, dim, dest, x, one, BF16, True)
        values.append(matrix(as_float(x)))
        want = np.max(values, axis=None if axis is None else (0, axis + 1))
        got = matrix(as_float(dest.word))
        np.testing.assert_array_equal([got[:, 0], got[0], got[0, 0]][dim], want)


@pytest.mark.parametrize("wide", WIDTHS)
@pytest.mark.parametrize("dim, axis", [(0, 1), (1, 0)])
@pytest.mark.parametrize("pool", [0, 2])
def test_sfpu_reductions(tile: Core, pool: int, dim: int, axis: int, wide: bool) -> None:
    dest = Dest()
    dest.word[:] = faces(np.random.default_rng(pool).integers(-64, 64, (32, 32)).astype(np.float32)).view(np.uint32)
    want = getattr(matrix(as_float(dest.word)), "max" if pool == 2 else "sum")(axis)
    if not wide:  # a store truncates to bf16
        want = as_float(want.astype(np.float32).view(np.uint32) & 0xFFFF0000)
    tile.sfpu_reduce(pool, dim, dest, wide)
    got = matrix(as_float(dest.word))
    np.testing.assert_array_equal(got[:, 0] if dim == 0 else got[0], want)


# -- the SFPU


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), scalar=st.floats(-1e6, 1e6, width=32))
def test_sums_and_products_of_the_sfpu_are_ieee_with_zeros_for_denormals(seed: int, scalar: float) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 1 << 32, 1024).astype(np.uint32)
    x[(x & 0x7F800000) == 0x7F800000] = 0
    if abs(scalar) < 2.0**-126:
        scalar = 0.0
    flushed = np.where((x & 0x7F800000) == 0, x & 0x80000000, x).astype(np.uint32).view(np.float32)
    with np.errstate(over="ignore", under="ignore"):
        want = {"add": flushed + np.float32(scalar), "mul": flushed * np.float32(scalar)}
    for op, exact in want.items():
        dest = Dest()
        dest.word[:] = x
        core().sfpu(op, dest, True, scalar=scalar)
        bits = exact.view(np.uint32)
        near_denormal = (bits & 0x7F800000) <= 0x00800000  # the hardware flushes before it has rounded
        same = (dest.word == bits) | near_denormal
        assert same.all(), f"{op} of {x[~same][:3]} and {scalar}"


def awkward_triples(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Factors and an addend near their product, near its negative, or up to 30 powers of two away.

    All but one triple of 16 are 1 * 1 + 1, so that a vector takes the fast way whenever that one allows it.
    """
    rng = np.random.default_rng(11)

    def factor() -> np.ndarray:
        bits = rng.integers(0, 1 << 32, count)
        kept = np.array([0x007FFFFF, 0x007F0000, 0x007FF000])[rng.integers(0, 3, count)]
        return (bits & 0x80000000 | bits & kept | rng.integers(100, 150, count) << 23).astype(np.uint32)

    a, b = factor(), factor()
    product = (a.view(np.float32) * b.view(np.float32)).view(np.uint32).astype(np.int64)
    c = product + rng.integers(-4, 5, count) + (rng.integers(-30, 31, count) * rng.integers(0, 2, count) << 23)
    c = (c ^ rng.integers(0, 2, count) << 31).astype(np.uint32)
    for x in (a, b, c):
        x[np.arange(count) % 16 != 0] = 0x3F800000
    return a, b, c


def test_the_fast_multiply_add_equals_the_one_on_integers(tile: Core) -> None:
    a, b, c = awkward_triples(1 << 22)
    np.testing.assert_array_equal(tile.mad(a, b, c, False), tile.mad(a, b, c, True))
    if cpu_level():  # on other CPUs there is no fast way
        faulty = build(edits=(("lanes.h", "ez < ep - 2", "ez < ep - 4"),))
        assert (faulty.mad(a, b, c, False) != faulty.mad(a, b, c, True)).any()


def ulps(got: np.ndarray, want: np.ndarray, wide: bool) -> np.ndarray:
    unit = 2.0 ** (power(want) - (23 if wide else 7))
    return np.abs(got - want) / unit


FUNCTIONS = {
    # name: (function, lowest, highest, error in units of the last place of 16-bit and 32-bit DEST)
    "exp": (np.exp, -80, 80, 1, 2),
    "recip": (lambda x: 1 / x, 0.01, 1000, 0.51, 2),
    "sqrt": (np.sqrt, 0.001, 1e6, 0.51, 2),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 0.001, 1e6, 0.51, 2),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), -20, 20, 1, 4),
    "silu": (lambda x: x / (1 + np.exp(-x)), -20, 20, 1.01, 4),
    "square": (np.square, -1000, 1000, 0.51, 0.51),
}


@pytest.mark.parametrize("wide", WIDTHS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_as_accurate_as_their_format(tile: Core, name: str, wide: bool) -> None:
    function, low, high, narrow_error, wide_error = FUNCTIONS[name]
    x = np.random.default_rng(1).uniform(low, high, 1024).astype(np.float32).view(np.uint32)
    dest = Dest()
    dest.word[:] = x if wide else x & 0xFFFF0000
    want = function(as_float(dest.word))
    tile.sfpu(name, dest, wide)
    assert ulps(as_float(dest.word), want, wide).max() <= (wide_error if wide else narrow_error)


@pytest.mark.parametrize("name, error", [("exp", 0.04), ("recip", 0.01), ("sqrt", 0.001), ("rsqrt", 0.002)])
def test_approximations_are_coarse_but_close(tile: Core, name: str, error: float) -> None:
    function, low, high, *_ = FUNCTIONS[name]
    dest = Dest()
    dest.word[:] = np.random.default_rng(2).uniform(low, high, 1024).astype(np.float32).view(np.uint32)
    want = function(as_float(dest.word))
    tile.sfpu(name, dest, True, approx=1)
    relative = np.abs(as_float(dest.word) / want - 1).max()
    assert 2.0**-22 < relative <= error


def test_special_values(tile: Core) -> None:
    inf = np.inf
    expected = {
        "exp": [(-inf, 0), (inf, inf), (0, 1), (-200, 0), (200, inf)],
        "recip": [(0, inf), (-0.0, -inf), (inf, 0), (-inf, -0.0)],
        "sqrt": [(0, 0), (inf, inf), (-1, np.nan)],
        "rsqrt": [(0, inf), (inf, 0), (-1, np.nan)],
        "relu": [(-3, 0), (3, 3), (-inf, 0), (inf, inf)],
        "abs": [(-3, 3), (-inf, inf)],
        "negative": [(3, -3), (-inf, inf)],
    }
    for name, pairs in expected.items():
        for x, want in pairs:
            dest = Dest()
            dest.word[:] = np.float32(x).view(np.uint32)
            tile.sfpu(name, dest, True)
            np.testing.assert_equal(as_float(dest.word[:1])[0], want, err_msg=f"{name}({x})")


@pytest.mark.parametrize("span, touched", [(0, [0, 1]), (1, [0, 2]), (2, [0, 1, 2, 3])])
def test_vector_modes_touch_only_their_faces(tile: Core, span: int, touched: list[int]) -> None:
    dest = Dest()
    tile.sfpu("fill", dest, True, scalar=2.0, span=span)
    filled = as_float(dest.word).reshape(4, 256)
    assert [f for f in range(4) if (filled[f] == 2).all()] == touched
    assert [f for f in range(4) if (filled[f] == 0).all()] == [f for f in range(4) if f not in touched]
    assert [f for f in range(4) if int(dest.rows[0]) >> 16 * f & 0xFFFF] == touched


@pytest.mark.parametrize("target, limits", [(Format.Int32, (-(2**31), 2**31 - 1)), (Format.UInt32, (0, 2**32 - 1))])
def test_casts_to_integers_truncate_and_saturate(tile: Core, target: Format, limits: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    x = (rng.uniform(-1, 1, 1024) * 2.0 ** rng.integers(0, 40, 1024)).astype(np.float32)
    dest = Dest()
    dest.word[:] = x.view(np.uint32)
    tile.typecast(dest, True, Format.Float32, target)
    got = dest.word.view(np.int32) if target == Format.Int32 else dest.word
    np.testing.assert_array_equal(got, np.clip(np.trunc(x.astype(np.float64)), *limits))


@pytest.mark.parametrize("source", [Format.Int32, Format.UInt32])
def test_casts_from_integers_round_to_nearest(tile: Core, source: Format) -> None:
    words = np.random.default_rng(4).integers(0, 1 << 32, 1024).astype(np.uint32)
    words[:3] = 0, 1 << 31, (1 << 32) - 1
    dest = Dest()
    dest.word[:] = words
    tile.typecast(dest, True, source, Format.Float32)
    exact = (words.view(np.int32) if source == Format.Int32 else words).astype(np.float32)
    np.testing.assert_array_equal(dest.word.view(np.float32), exact)
