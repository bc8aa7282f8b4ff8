"""Ops whose tiles go once through compute: elementwise, RMSNorm, RoPE."""

from __future__ import annotations

from harness.costs.program import Chain, Compute, Counts, Pages, Phase, Program, Tail

NORM_PASSES = 4  # square, sum, times 1 / rms, times gamma
ROPE_PASSES = 5  # the rotated half's sign, its copy, times sin, times cos, sum
SILU_MADS = 384  # vector multiply-adds a tile, counted


def largest_divisor(n: int, limit: int) -> int:
    """The largest divisor of n that is at most `limit`."""
    return next(d for d in range(min(n, limit), 0, -1) if n % d == 0)


def elementwise(tiles: int, pages_in: list[int], page_out: int, grid: tuple[int, int], mads: int = 0) -> Program:
    """Tiles dealt to the grid; a barrier reads one of each operand (page bytes in `pages_in`). mads: a tile's, SFPU."""
    cores = min(tiles, grid[0] * grid[1])
    core_tiles = -(-tiles // cores)
    reads, writes = [Pages(tiles, p) for p in pages_in], Pages(tiles, page_out)
    counts = Counts(
        cores, tiles * len(reads), sum(r.n_bytes for r in reads), tiles, writes.n_bytes,
        core_tiles, core_tiles * len(reads),
    )  # fmt: skip
    chain = Chain(core_tiles, core_tiles * sum(pages_in[1:]))
    phase = Phase((*reads, writes), chain, Compute(passes=core_tiles, mads=core_tiles * mads))
    return Program(counts, (phase,), Tail(Compute(passes=1, mads=mads)))


def rms_norm(rows: int, width: int, page_bytes: int, grid: tuple[int, int]) -> Program:
    """`rows` tile rows of `width` tiles, a core a row while cores last; gamma once a core; blocks of at most 8 tiles.

    Of a row that fits L1: a wider one takes another kernel, which reads x again.
    """
    cores = min(rows, grid[0] * grid[1])
    core_rows, block = -(-rows // cores), largest_divisor(width, 8)
    tiles, gamma = Pages(rows * width, page_bytes), Pages(cores * width, page_bytes)
    bursts = (core_rows + 1) * width // block
    core_reads = (core_rows + 1) * width
    # One barrier more: the reduction's scaler tile is built from zeros in L1.
    counts = Counts(
        cores, tiles.count + gamma.count, tiles.n_bytes + gamma.n_bytes, tiles.count, tiles.n_bytes,
        bursts + 1, core_reads,
    )  # fmt: skip
    chain = Chain(bursts + 1, (core_reads - bursts) * page_bytes)
    phase = Phase((tiles, gamma, tiles), chain, Compute(passes=core_rows * width * NORM_PASSES))
    return Program(counts, (phase,), Tail(Compute(passes=1)))


def rope(units: int, width: int, page_bytes: int, grid: tuple[int, int]) -> Program:
    """rotary_embedding_hf of `units` heads in a tile row: tile, rotated tile, cos and sin, each waited for alone."""
    cores = min(units, grid[0] * grid[1])
    core_tiles = -(-units // cores) * width
    reads, writes = Pages(units * width * 4, page_bytes), Pages(units * width, page_bytes)
    counts = Counts(cores, reads.count, reads.n_bytes, writes.count, writes.n_bytes, core_tiles * 4, core_tiles * 4)
    # All cores go through the tiles of their heads in step, so that their reads meet at the same banks.
    chain = Chain(core_tiles * 4, together=cores, stride=width, page_bytes=page_bytes)
    phase = Phase((reads, writes), chain, Compute(passes=core_tiles * ROPE_PASSES))
    return Program(counts, (phase,), Tail(Compute(passes=ROPE_PASSES)))
