"""The least time the contract leaves: each byte the layer needs read once, at the best rate DRAM was seen to give."""

from __future__ import annotations

from harness.case import Case
from harness.costs.chip import P150, Chip
from harness.dtypes import TILE_BYTES
from harness.shape import TILE


def floor_bytes(case: Case) -> int:
    """Weights, the tile rows of K and V that hold valid or own rows, x in and x out."""
    s = case.shape
    products = s.hidden * (s.qkv_dim + 3 * s.inter) + s.q_dim * s.hidden
    weights = products // TILE**2 * TILE_BYTES[case.weights]
    kv = 2 * -(-(case.S + s.tokens) // TILE) * (s.kv_dim // TILE) * TILE_BYTES[case.cache]
    x = s.tokens * s.hidden // TILE**2 * TILE_BYTES["bf16"]
    return weights + kv + 2 * x


def floor_us(case: Case, chip: Chip = P150) -> float:
    """us of a layer at that rate."""
    return floor_bytes(case) / chip.dram_best / 1e3
