"""Twins of ttnn's ops: small programs with the access pattern that was counted for an op of the published table.

An op's twin reads as many tiles on as many cores with as many in flight, and does as many passes over them. Older
versions of create_qkv_heads and concat_heads, which the published times are from, ran on two cores.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.emulator.build import Builder
from tests.emulator.good import values

COLUMNS = 11  # of the grid


def bits16(value: float) -> int:
    """Two bf16 of ``value`` in a word."""
    half = struct.unpack("<H", struct.pack("<f", value)[2:])[0]
    return half << 16 | half


def first_cores(b: Builder, n: int) -> Any:
    """The first ``n`` cores, row by row."""
    t = b.ttnn
    ranges = [(y, min(COLUMNS, n - y * COLUMNS)) for y in range(-(-n // COLUMNS))]
    return t.CoreRangeSet([t.CoreRange(t.CoreCoord(0, y), t.CoreCoord(wide - 1, y)) for y, wide in ranges])


def copy(b: Builder, cores: int, each: int, block: int = 1) -> None:
    """Each core copies ``each`` tiles, ``block`` reads in flight."""
    shape, grid = (1, 1, 32, 32 * cores * each), first_cores(b, cores)
    a, out = b.tensor(values(1, shape)), b.empty(shape)

    def first(x: int, y: int) -> int:
        return (y * COLUMNS + x) * each

    kernels = [
        b.kernel("reader.cpp", "reader", grid, [1, block, *b.accessors(a)],
                 lambda x, y: [a.buffer_address(), 0, first(x, y), each]),
        b.kernel("writer.cpp", "writer", grid, [0, 1, *b.accessors(out)],
                 lambda x, y: [out.buffer_address(), first(x, y), each]),
    ]  # fmt: skip
    b.run([a, out], b.program(kernels, [b.cb(0, grid, 2 * block)]))


def add(b: Builder, cores: int) -> None:
    """Each core adds a tile of each of two tensors, both in flight."""
    shape, grid = (1, 1, 32, 32 * cores), first_cores(b, cores)
    x, y = (b.tensor(values(seed, shape)) for seed in (1, 2))
    out = b.empty(shape)

    kernels = [
        b.kernel("reader.cpp", "reader", grid, [2, 1, *b.accessors(x, y)],
                 lambda cx, cy: [x.buffer_address(), y.buffer_address(), cy * COLUMNS + cx, 1]),
        b.kernel("writer.cpp", "writer", grid, [2, 1, *b.accessors(out)],
                 lambda cx, cy: [out.buffer_address(), cy * COLUMNS + cx, 1]),
        b.kernel("binary.cpp", "compute", grid, [1], lambda cx, cy: [1],
                 defines={"INIT": "add_init", "TILES": "add_tiles"}),
    ]  # fmt: skip
    b.run([x, y, out], b.program(kernels, [b.cb(i, grid, 2) for i in range(3)]))


def rope(b: Builder) -> None:
    """16 cores, each 4 tiles: one read of x, cos and sin each in flight, of x twice (the tile and its other half);
    three passes: x cos, x' sin, their sum."""
    grid = first_cores(b, 16)
    x, cos, sin = (b.tensor(values(seed, (1, 16, 32, 128))) for seed in (1, 2, 3))
    out = b.empty((1, 16, 32, 128))

    def first(cx: int, cy: int) -> int:
        return (cy * COLUMNS + cx) * 4

    kernels = [
        b.kernel("twin_rope_reader.cpp", "reader", grid, b.accessors(x, cos, sin),
                 lambda cx, cy: [*(t.buffer_address() for t in (x, cos, sin)), first(cx, cy)]),
        b.kernel("twin_rope.cpp", "compute", grid),
        b.kernel("writer.cpp", "writer", grid, [6, 1, *b.accessors(out)],
                 lambda cx, cy: [out.buffer_address(), first(cx, cy), 4]),
    ]  # fmt: skip
    b.run([x, cos, sin, out], b.program(kernels, [b.cb(i, grid, 2) for i in range(7)]))


def norm(b: Builder) -> None:
    """2 cores, each a row of 48 tiles and gamma in blocks of 8, four passes."""
    width, block = 48, 8
    grid = first_cores(b, 2)
    x, gamma = b.tensor(values(1, (1, 1, 64, 32 * width))), b.tensor(values(2, (1, 1, 32, 32 * width)))
    out = b.empty((1, 1, 64, 32 * width))
    eps = struct.unpack("<I", struct.pack("<f", 1e-6))[0]
    kernels = [
        b.kernel("twin_norm_reader.cpp", "reader", grid, [width, block, bits16(1 / 1536), *b.accessors(x, gamma)],
                 lambda cx, _: [x.buffer_address(), gamma.buffer_address(), cx]),
        b.kernel("twin_norm.cpp", "compute", grid, [width, eps]),
        b.kernel("writer.cpp", "writer", grid, [2, 1, *b.accessors(out)],
                 lambda cx, _: [out.buffer_address(), cx * width, width]),
    ]  # fmt: skip
    pages = {0: width, 1: 1, 2: 4, 3: width, 4: 1, 5: width, 6: width}
    b.run([x, gamma, out], b.program(kernels, [b.cb(i, grid, n) for i, n in pages.items()]))


@dataclass(frozen=True)
class Twin:
    """``published``: us of the op, the least and the most where two ops have the pattern."""

    run: Callable[[Builder], None]
    published: tuple[float, float]


TWINS: dict[str, Twin] = {
    "rms_norm: 2 cores x 48 tiles, four passes": Twin(norm, (17.3, 17.4)),
    "rope: 16 cores x 16 reads, one in flight": Twin(rope, (9.1, 11.0)),
    "create_qkv_heads: 2 cores x 128 reads, one in flight": Twin(lambda b: copy(b, 2, 128), (52.8, 52.8)),
    "concat_heads: 2 cores x 64 reads, one in flight": Twin(lambda b: copy(b, 2, 64), (27.7, 27.7)),
    "add: 96 cores x 1 tile": Twin(lambda b: add(b, 96), (6.5, 6.7)),
    "fill_cache: 16 cores x 4 reads": Twin(lambda b: copy(b, 16, 4), (3.8, 3.9)),
}
