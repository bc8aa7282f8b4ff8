"""Weights as cores stream them: a core's share lies in one piece in one DRAM bank, one in whose NoC row the core is.

An interleaved tensor of one tile a page has page p in bank p % banks, and the pages of a bank lie one after another. So
a tensor of the same tiles in another order puts each tile where it is wanted. `to_banks` makes one, [1, 1, 32 n, 32],
of the tiles that each bank is to hold; banks with fewer tiles than the fullest are padded. Whole tiles move, so block
floats keep their values.

A core reads its share from `get_noc_addr_from_bank_id` of the tensor's address and the share's offset in the bank
(kernels/shared/stream.h).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from harness.dtypes import TILE_BYTES, to_device
from harness.shape import TILE
from layer_impls._program import Core

PACKET = 16384  # bytes of the longest NoC packet


def bank_neighbours(ttnn: Any, device: Any) -> list[Core]:
    """For each DRAM bank the worker that ttnn names for reads on NoC 0: one in the NoC row of its endpoint."""
    near = device.get_optimal_dram_bank_to_logical_worker_assignment(ttnn.NOC.NOC_0)
    return [(core.x, core.y) for core in near]


def bank_cores(ttnn: Any, device: Any) -> list[list[Core]]:
    """For each DRAM bank the cores of its row, left to right; banks of one row share its cores."""
    grid = device.compute_with_storage_grid_size()
    rows = [row for _, row in bank_neighbours(ttnn, device)]
    cores = []
    for bank, row in enumerate(rows):
        banks = [b for b, other in enumerate(rows) if other == row]
        part = deal(grid.x, len(banks))[banks.index(bank)]
        cores.append([(x, row) for x in part])
    return cores


def deal(n: int, parts: int) -> list[range]:
    """0 .. n - 1 in `parts` consecutive ranges, which differ by one at most; the longer ones last."""
    return [range(n * i // parts, n * (i + 1) // parts) for i in range(parts)]


def tiles_of(weight: torch.Tensor) -> torch.Tensor:
    """[K, N] -> [K / 32, N / 32, 32, 32], a view."""
    k, n = weight.shape
    return weight.reshape(k // TILE, TILE, n // TILE, TILE).transpose(1, 2)


def to_banks(ttnn: Any, device: Any, tiles: Sequence[torch.Tensor], dtype: str) -> Any:
    """tiles: for each bank [n, 32, 32], in the order they are to lie there -> a tensor on the device."""
    depth = max(len(t) for t in tiles)
    pages = torch.zeros(depth, len(tiles), TILE, TILE, dtype=tiles[0].dtype)
    for bank, own in enumerate(tiles):
        pages[: len(own), bank] = own
    return to_device(ttnn, device, pages.reshape(1, 1, -1, TILE), dtype)


def block_rows(height: int, columns: int, dtype: str) -> int:
    """Rows of a block that one packet holds, of a weight `height` tile rows high read `columns` tiles a row."""
    most = max(1, PACKET // (columns * TILE_BYTES[dtype]))
    return -(-height // -(-height // most))
