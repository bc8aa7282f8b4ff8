"""A linear whose K is split over the DRAM banks and whose N over the cores next to each bank.

The cores of a bank are a group. It holds a range of K, [columns of activations] x [all of N], and each of its cores a
range of N of that. The cores of a group bring each other the group's columns of activations (`own`: a core's part of
them), and every core sends its partial results to the owners of their columns: an output column has one owner, which
adds a partial result from each group and the residual. kernels/shared/split_linear.h moves all that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from harness.dtypes import TILE_BYTES
from harness.shape import TILE
from layer_impls._program import CB_BUDGET, Cb, Core, Rectangle, buffers, check_l1
from layer_impls._weights import bank_cores, block_rows, deal, tiles_of, to_banks

DEST_TILES = 4  # fp32, half of DEST
LEAST_SLOTS = 3  # of streamed weights: one more than reads in flight (kernels/shared/stream.h)


@dataclass(frozen=True)
class Worker:
    """A core of a group. own: of the group's columns of activations; units: of N, in the order they are computed;
    owned: output columns; first_tile: of its share in the bank."""

    core: Core
    own: range
    units: tuple[int, ...]
    owned: range
    first_tile: int


@dataclass(frozen=True)
class Group:
    """The cores next to a bank, and their columns of activations: a range of K in tiles."""

    bank: int
    columns: range
    workers: tuple[Worker, ...]

    @property
    def rectangle(self) -> Rectangle:
        """Its cores."""
        return Rectangle(*self.workers[0].core, len(self.workers), 1)


class SplitLinear:
    """Who does what in [tokens, k] x [k, n], on which cores of a device; sizes in tiles from here on.

    column_tiles: tiles of other weights that a core streams for each of its own columns of K, before its own of this.
    unit: columns of N that are computed at once, what DEST holds. A group has as many cores as make the share of the
    busiest smallest, and of those numbers the smallest.
    """

    def __init__(self, ttnn: Any, device: Any, tokens: int, k: int, n: int, dtype: str, column_tiles: int = 0) -> None:
        self.ttnn, self.device, self.dtype = ttnn, device, dtype
        self.rows, self.k, self.n, self.column_tiles = tokens // TILE, k // TILE, n // TILE, column_tiles
        self.unit = next(u for u in range(max(1, DEST_TILES // self.rows), 0, -1) if self.n % u == 0)
        units = self.n // self.unit
        cores = bank_cores(ttnn, device)[: self.k]
        columns = deal(self.k, len(cores))

        def busiest(bank: int, workers: int) -> int:
            own, n_units = -(-len(columns[bank]) // workers), -(-units // workers)
            return own * column_tiles + n_units * self.unit * len(columns[bank])

        sizes = []
        for bank, available in enumerate(cores):
            shares = [busiest(bank, workers) for workers in range(1, len(available) + 1)]
            sizes.append(1 + shares.index(min(shares)))
        owned = iter(deal(self.n, sum(sizes)))
        self.groups = [
            self._group(bank, cores[bank][:size], columns[bank], units, [next(owned) for _ in range(size)])
            for bank, size in enumerate(sizes)
        ]

    def _group(self, bank: int, cores: list[Core], columns: range, units: int, owned: list[range]) -> Group:
        first, workers = 0, []
        shares = zip(cores, deal(len(columns), len(cores)), deal(units, len(cores)), owned, strict=True)
        for core, own, share, owns in shares:
            # Groups begin with different units, so that an owner does not hear from all of them at once.
            start = bank % max(1, len(share))
            workers.append(Worker(core, own, (*share[start:], *share[:start]), owns, first))
            first += len(own) * self.column_tiles + len(share) * self.unit * len(columns)
        return Group(bank, columns, tuple(workers))

    @property
    def workers(self) -> list[Worker]:
        """All of them, group by group."""
        return [worker for group in self.groups for worker in group.workers]

    @property
    def parts(self) -> int:
        """Partial results of a column, made even: they are added two at a time."""
        return len(self.groups) + len(self.groups) % 2

    @property
    def width(self) -> int:
        """Columns of activations of the largest group."""
        return max(len(group.columns) for group in self.groups)

    @property
    def block(self) -> int:
        """Rows of a unit's weight that are read at once."""
        return block_rows(self.width, self.unit, self.dtype)

    def weights(self, weight: torch.Tensor, columns: torch.Tensor | None = None) -> Any:
        """[k, n], and column_tiles tiles [column_tiles, 32, 32] for each column of K -> one tensor in bank order."""
        tiles = tiles_of(weight)
        banks = [tiles[:0, 0]] * self.device.dram_grid_size().x
        for group in self.groups:
            rows, shares = tiles[group.columns.start : group.columns.stop], []
            for worker in group.workers:
                if columns is not None:
                    shares += [columns[group.columns[c]] for c in worker.own]
                shares += [rows[:, u * self.unit : (u + 1) * self.unit] for u in worker.units]
            banks[group.bank] = torch.cat([share.reshape(-1, TILE, TILE) for share in shares])
        return to_banks(self.ttnn, self.device, banks, self.dtype)

    def cbs(self, what: str, slot: int, blocks: int, others: Sequence[Cb] = ()) -> list[Cb]:
        """Of every worker, beside `others`; as much of the stream as L1 holds.

        slot: tiles of a slot. blocks: slots that a column of `column_tiles` takes. what: needs it, for the error.
        """
        own = max(len(w.own) for w in self.workers)
        owned = max(len(w.owned) for w in self.workers)
        columns = {1: own, 2: self.width, 3: 2 * self.unit, 4: owned * self.parts, 5: owned, 16: owned}
        cbs = buffers("bf16", {index: self.rows * n for index, n in columns.items()})
        check_l1(what, (*cbs, *others, Cb(0, self.dtype, LEAST_SLOTS * slot)))
        down_blocks = -(-self.width // self.block)
        stream = max(len(w.own) * blocks + len(w.units) * down_blocks for w in self.workers)
        rest = CB_BUDGET - sum(cb.bytes for cb in (*cbs, *others))
        slots = min(rest // (slot * TILE_BYTES[self.dtype]), max(stream, LEAST_SLOTS))
        return [*cbs, Cb(0, self.dtype, slots * slot)]

    def movement_args(self) -> Mapping[Core, list[int]]:
        """Runtime args of split_linear.h."""
        owner = {column: worker for worker in self.workers for column in worker.owned}

        def packed(core: Core, place: int = 0) -> int:
            noc = self.device.worker_core_from_logical_core(self.ttnn.CoreCoord(*core))
            packed: int = noc.x | noc.y << 8 | place << 16
            return packed

        args = {}
        for index, group in enumerate(self.groups):
            for i, w in enumerate(group.workers):
                peers = [packed(worker.core) for worker in (*group.workers[i:], *group.workers[:i])]
                columns = [unit * self.unit + c for unit in w.units for c in range(self.unit)]
                owners = [packed(owner[c].core, c - owner[c].owned.start) for c in columns]
                own = [index, len(group.columns), w.own.start, len(w.own), group.columns.start]
                args[w.core] = [*own, len(w.owned), w.owned.start, len(peers), len(columns), *peers, *owners]
        return args
