"""Ops that only move tiles: head split, head concat, cache fill. A unit is a head in a tile row.

Each has the structure of ttnn 0.81.1; head split and concat also that of the older ttnn of the published times, which
used a core a tile row and waited for every tile.
"""

from __future__ import annotations

from harness.costs.program import Chain, Counts, Pages, Phase, Program


def move(units: int, width: int, page_bytes: int, most_cores: int, in_flight: int) -> Program:
    """`units` of `width` tiles, dealt to at most `most_cores` cores that read `in_flight` tiles a barrier."""
    cores = min(units, most_cores)
    core_units = -(-units // cores)
    bursts = core_units * -(-width // in_flight)
    core_reads, tiles = core_units * width, units * width
    pages = Pages(tiles, page_bytes)
    counts = Counts(cores, tiles, pages.n_bytes, tiles, pages.n_bytes, bursts, core_reads)
    phase = Phase((pages, pages), Chain(bursts, (core_reads - bursts) * page_bytes))
    return Program(counts, (phase,), computes=False)


def split_or_concat(heads: int, rows: int, width: int, page_bytes: int, grid: tuple[int, int]) -> Program:
    """nlp_create_qkv_heads and nlp_concat_heads of ttnn 0.81.1: a unit's tiles in flight together.

    heads: all that move (query, key and value heads); rows: tile rows; width: tiles of a head.
    """
    return move(heads * rows, width, page_bytes, grid[0] * grid[1], in_flight=width)


def split_or_concat_older(heads: int, rows: int, width: int, page_bytes: int, grid: tuple[int, int]) -> Program:
    """The same in the ttnn of the published times."""
    return move(rows, heads * width, page_bytes, grid[0] * grid[1], in_flight=1)


def fill_cache(heads: int, rows: int, width: int, page_bytes: int, grid: tuple[int, int]) -> Program:
    """Own rows into the cache, tile by tile."""
    return move(heads * rows, width, page_bytes, grid[0] * grid[1], in_flight=1)
