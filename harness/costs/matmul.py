"""The 1-D multicast matmul: N dealt to cores that read their own weights; one core reads the activations for all."""

from __future__ import annotations

from dataclasses import dataclass

from harness.costs.program import Chain, Compute, Counts, Pages, Phase, Program, Tail
from harness.costs.rowwise import SILU_MADS, elementwise
from harness.dtypes import TILE_BYTES

DEFAULT_BLOCK = 2  # K tiles a block where ttnn chooses the config


@dataclass(frozen=True)
class Blocking:
    """K tiles a block, N tiles a core, and whether SiLU is fused."""

    block: int
    core_n: int
    silu: bool = False


def default_blocking(k: int, n: int, grid: tuple[int, int]) -> Blocking:
    """What ttnn chooses for few rows: all cores that N can use, K in blocks of two tiles."""
    return Blocking(DEFAULT_BLOCK if k % DEFAULT_BLOCK == 0 else 1, -(-n // (grid[0] * grid[1])))


def matmul(m: int, k: int, n: int, x: str, w: str, out: str, how: Blocking, grid: tuple[int, int]) -> Program:
    """[m, k] x [k, n] in tiles, with the dtypes of both and of the result."""
    cores, blocks = -(-n // how.core_n), k // how.block
    activations, weights = Pages(m * k, TILE_BYTES[x]), Pages(k * n, TILE_BYTES[w])
    result = Pages(m * n, TILE_BYTES[out])
    counts = Counts(
        cores, activations.count + weights.count, activations.n_bytes + weights.n_bytes, result.count, result.n_bytes,
        2 * blocks, m * k + k * min(how.core_n, n),
    )  # fmt: skip
    # The core that reads and multicasts a block of activations does so in series; its weights come over the other NoC.
    chain = Chain(
        barriers=blocks,
        extra_bytes=activations.n_bytes - blocks * activations.page_bytes,
        multicast=activations.n_bytes,
        hops=grid[0] + grid[1] - 2,
    )
    core_tiles = m * how.core_n
    phase = Phase((weights, activations, result), chain, Compute(products=core_tiles * k))
    last = Compute(products=core_tiles * how.block, mads=core_tiles * SILU_MADS if how.silu else 0)
    return Program(counts, (phase,), Tail(last))


def linear(
    m: int, k: int, n: int, x: str, w: str, out: str, how: Blocking | None, silu: bool, grid: tuple[int, int]
) -> tuple[Program, ...]:
    """ttnn.linear: with a config (which fuses the activation) one program; without, SiLU is a second."""
    program = matmul(m, k, n, x, w, out, how or default_blocking(k, n, grid), grid)
    if how is None and silu:
        page = TILE_BYTES[out]
        return program, elementwise(m * n, [page], page, grid, SILU_MADS)
    return (program,)
