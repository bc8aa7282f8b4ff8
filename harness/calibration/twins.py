"""Twins of ttnn's ops: small programs with the access pattern that was counted for an op of the published table.

An op's twin reads as many tiles on as many cores with as many in flight, of the same banks, and does as many passes
over them. Older versions of create_qkv_heads and concat_heads, which the published times are from, ran on two cores.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import kernels
from harness.calibration.build import COLUMNS, Builder

KERNELS = Path(kernels.__file__).parent / "calibration"
Launch = tuple[list[Any], Any]  # tensors, the output last, and the program


def values(seed: int, shape: tuple[int, ...]) -> torch.Tensor:
    """Random bf16 values."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).bfloat16()


def number(x: int, y: int) -> int:
    """Of a core, row by row."""
    return y * COLUMNS + x


def copy(b: Builder, cores: int, each: int, block: int = 1) -> Launch:
    """Each core copies ``each`` tiles, ``block`` reads in flight."""
    shape, grid = (1, 1, 32, 32 * cores * each), b.first_cores(cores)
    a, out = b.tensor(values(1, shape)), b.empty(shape)
    kernels = [
        b.kernel(KERNELS / "reader.cpp", "reader", grid, [1, block, *b.accessors(a)],
                 lambda x, y: [a.buffer_address(), 0, number(x, y) * each, each]),
        b.kernel(KERNELS / "writer.cpp", "writer", grid, [0, 1, *b.accessors(out)],
                 lambda x, y: [out.buffer_address(), number(x, y) * each, each]),
    ]  # fmt: skip
    return [a, out], b.program(kernels, [b.cb(0, grid, 2 * block)])


def elementwise(b: Builder, op: str, tiles: int, cores: int) -> Launch:
    """``tiles`` dealt to the cores, a tile of each of two tensors in flight."""
    shape, grid = (1, 1, 32, 32 * tiles), b.first_cores(cores)
    x, y = (b.tensor(values(seed, shape)) for seed in (1, 2))
    out = b.empty(shape)

    def share(cx: int, cy: int) -> tuple[int, int]:
        most = -(-tiles // cores)
        first = min(number(cx, cy) * most, tiles)
        return first, min(most, tiles - first)

    kernels = [
        b.kernel(KERNELS / "reader.cpp", "reader", grid, [2, 1, *b.accessors(x, y)],
                 lambda cx, cy: [x.buffer_address(), y.buffer_address(), *share(cx, cy)]),
        b.kernel(KERNELS / "writer.cpp", "writer", grid, [2, 1, *b.accessors(out)],
                 lambda cx, cy: [out.buffer_address(), *share(cx, cy)]),
        b.kernel(KERNELS / "elementwise.cpp", "compute", grid, [1], lambda cx, cy: [share(cx, cy)[1]],
                 defines={"INIT": f"{op}_init", "TILES": f"{op}_tiles"}),
    ]  # fmt: skip
    return [x, y, out], b.program(kernels, [b.cb(i, grid, 2) for i in range(3)])


def rope(b: Builder, heads: int) -> Launch:
    """A core for each head and tile row, each 4 tiles of x, of its other half, of cos and of sin, one read in flight.
    All heads read the same cos and sin. Three passes: x cos, x' sin, their sum."""
    units, grid = heads * 2, b.first_cores(heads * 2)
    x = b.tensor(values(1, (1, heads, 64, 128)))
    cos, sin = (b.tensor(values(seed, (1, 1, 64, 128))) for seed in (2, 3))
    out = b.empty((1, heads, 64, 128))
    assert units <= COLUMNS * 10
    kernels = [
        b.kernel(KERNELS / "rope_reader.cpp", "reader", grid, b.accessors(x, cos, sin),
                 lambda cx, cy: [*(t.buffer_address() for t in (x, cos, sin)),
                                 number(cx, cy) * 4, number(cx, cy) % 2 * 4]),
        b.kernel(KERNELS / "rope.cpp", "compute", grid),
        b.kernel(KERNELS / "writer.cpp", "writer", grid, [6, 1, *b.accessors(out)],
                 lambda cx, cy: [out.buffer_address(), number(cx, cy) * 4, 4]),
    ]  # fmt: skip
    return [x, cos, sin, out], b.program(kernels, [b.cb(i, grid, 2) for i in range(7)])


def norm(b: Builder, rows: int, width: int, block: int) -> Launch:
    """A core for each row of ``width`` tiles, gamma in blocks as x, four passes."""
    grid = b.first_cores(rows)
    x, gamma = b.tensor(values(1, (1, 1, 32 * rows, 32 * width))), b.tensor(values(2, (1, 1, 32, 32 * width)))
    out = b.empty((1, 1, 32 * rows, 32 * width))
    scale = struct.unpack("<I", b"\0\0" + struct.pack("<f", 1 / (32 * width))[2:])[0]
    eps = struct.unpack("<I", struct.pack("<f", 1e-6))[0]
    kernels = [
        b.kernel(KERNELS / "norm_reader.cpp", "reader", grid,
                 [width, block, scale | scale >> 16, *b.accessors(x, gamma)],
                 lambda cx, cy: [x.buffer_address(), gamma.buffer_address(), number(cx, cy)]),
        b.kernel(KERNELS / "norm.cpp", "compute", grid, [width, eps]),
        b.kernel(KERNELS / "writer.cpp", "writer", grid, [2, 1, *b.accessors(out)],
                 lambda cx, cy: [out.buffer_address(), number(cx, cy) * width, width]),
    ]  # fmt: skip
    pages = {0: width, 1: 1, 2: 4, 3: width, 4: 1, 5: width, 6: width}
    return [x, gamma, out], b.program(kernels, [b.cb(i, grid, n) for i, n in pages.items()])


def matmul(b: Builder, depth: int, columns: int, cores: int, block: int) -> Launch:
    """[2, depth] x [depth, columns] tiles, bfp8 weights. Each core reads the weights of its columns; the first core
    reads the activations for all and multicasts them to the rectangle around the cores, ``block`` tiles of K at a time.
    """
    rows, own, grid = 2, columns // cores, b.first_cores(cores)
    height = -(-cores // COLUMNS)
    rectangle = b.grid(COLUMNS, height)
    x, w = (
        b.tensor(values(1, (1, 1, 64, 32 * depth))),
        b.tensor(values(2, (1, 1, 32 * depth, 32 * columns)), "bfloat8_b"),
    )
    out = b.empty((1, 1, 64, 32 * columns))
    leader = b.noc(0, 0)
    area = [*leader, *b.noc(COLUMNS - 1, height - 1)]
    sizes = [rows, depth, block]
    kernels = [
        b.kernel(KERNELS / "matmul_activations.cpp", "reader", grid,
                 [*sizes, cores - 1, COLUMNS * height - 1, *b.accessors(x)],
                 lambda cx, cy: [int((cx, cy) == (0, 0)), x.buffer_address(), *leader, *area]),
        b.kernel(KERNELS / "matmul_weights.cpp", "writer", grid, [*sizes, own, columns, *b.accessors(w, out)],
                 lambda cx, cy: [w.buffer_address(), out.buffer_address(), number(cx, cy) * own]),
        b.kernel(KERNELS / "matmul.cpp", "compute", grid, [rows, depth // block, block, own],
                 math_fidelity=b.ttnn.MathFidelity.HiFi2),
    ]  # fmt: skip
    cbs = [
        b.cb(0, rectangle, 2 * rows * block),
        b.cb(1, rectangle, 2 * block * own, "bfloat8_b"),
        b.cb(2, rectangle, rows * own),
    ]
    return [x, w, out], b.program(kernels, cbs, [(i, rectangle, 0) for i in range(2)])


@dataclass(frozen=True)
class Twin:
    """``published``: us of the op, each where two ops have the pattern."""

    build: Callable[[Builder], Launch]
    published: tuple[float, ...]


TWINS: dict[str, Twin] = {
    "rms_norm: 2 cores x 48 tiles, four passes": Twin(lambda b: norm(b, 2, 48, 8), (17.3, 17.4)),
    "q_norm: 32 cores x 4 tiles, four passes": Twin(lambda b: norm(b, 32, 4, 4), (6.5,)),
    "k_norm: 16 cores x 4 tiles, four passes": Twin(lambda b: norm(b, 16, 4, 4), (5.8,)),
    "rope q: 32 cores x 16 reads, one in flight": Twin(lambda b: rope(b, 16), (11.0,)),
    "rope k: 16 cores x 16 reads, one in flight": Twin(lambda b: rope(b, 8), (9.1,)),
    "create_qkv_heads: 2 cores x 128 reads, one in flight": Twin(lambda b: copy(b, 2, 128), (52.8,)),
    "concat_heads: 2 cores x 64 reads, one in flight": Twin(lambda b: copy(b, 2, 64), (27.7,)),
    "fill_cache: 16 cores x 4 reads": Twin(lambda b: copy(b, 16, 4), (3.9, 3.8)),
    "add: 96 cores x 1 tile": Twin(lambda b: elementwise(b, "add", 96, 96), (6.5, 6.7)),
    "mul: 110 cores x 4 tiles": Twin(lambda b: elementwise(b, "mul", 384, 110), (10.9,)),
    "wo: 48 cores x 64 tiles, blocks of 8": Twin(lambda b: matmul(b, 64, 48, 48, 8), (18.6,)),
    "w3: 96 cores x 96 tiles, blocks of 8": Twin(lambda b: matmul(b, 48, 192, 96, 8), (37.3,)),
    "w2: 48 cores x 192 tiles, blocks of 48": Twin(lambda b: matmul(b, 192, 48, 48, 48), (44.6,)),
}
