"""A linear whose K is split over the DRAM banks and whose N over the cores next to each bank.

The cores of a bank are a group. It holds a range of K, [columns of activations] x [all of N], and each of its cores a
range of N of that. The cores of a group bring each other the group's columns of activations (`own`: a core's part of
them), and every core sends its partial results to the owners of their columns: an output column has one owner, which
adds a partial result from each group and the residual. kernels/shared/split_linear.h moves all that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from harness.dtypes import TILE_BYTES
from harness.errors import UsageError
from harness.shape import TILE
from layer_impls._program import CB_BUDGET, Cb, Core, Rectangle, buffers, check_l1
from layer_impls._weights import bank_cores, block_rows, deal, tiles_of, to_banks

DEST_TILES = 4  # fp32, half of DEST
LEAST_SLOTS = 3  # of streamed weights: one more than reads in flight (kernels/shared/stream.h)


@dataclass(frozen=True)
class Worker:
    """A core of a group. own: of the group's columns of activations; units: of N, in the order they are computed;
    owned: output columns."""

    core: Core
    own: range
    units: tuple[int, ...]
    owned: range


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


def unit_columns(rows: int, n: int) -> int:
    """Columns of N that are computed at once: what DEST holds. Raises `UsageError` unless it holds one."""
    if rows > DEST_TILES:
        raise UsageError(
            f"tokens is {rows * TILE}; a linear with its weights in bank order takes {DEST_TILES * TILE} at most, "
            "as many as DEST holds of a column"
        )
    return next(columns for columns in range(max(1, DEST_TILES // rows), 0, -1) if n % columns == 0)


def teams(ttnn: Any, device: Any, tokens: int, n: int, linears: Sequence[tuple[int, int]]) -> list[list[Core]]:
    """The cores of each group, a group a bank, for linears of one program: each (k, column_tiles) as in `SplitLinear`.

    As many cores as make the share of the busiest smallest, and of those numbers the smallest.
    """
    rows, n_tiles = tokens // TILE, n // TILE
    unit = unit_columns(rows, n_tiles)
    cores = bank_cores(ttnn, device)[: min(k for k, _ in linears) // TILE]
    chosen = []
    for bank, available in enumerate(cores):
        columns = [(len(deal(k // TILE, len(cores))[bank]), tiles) for k, tiles in linears]
        shares = [
            sum(-(-own // size) * tiles + -(-n_tiles // unit // size) * unit * own for own, tiles in columns)
            for size in range(1, len(available) + 1)
        ]
        chosen.append(available[: 1 + shares.index(min(shares))])
    return chosen


class SplitLinear:
    """Who does what in [tokens, k] x [k, n], on which cores of a device; sizes in tiles from here on.

    column_tiles: tiles of other weights that a core streams for each of its own columns of K, before its own of this.
    cores: of each group, from `teams`; linears with the same have the same owners of columns.
    """

    def __init__(
        self,
        ttnn: Any,
        device: Any,
        tokens: int,
        k: int,
        n: int,
        dtype: str,
        column_tiles: int = 0,
        cores: Sequence[list[Core]] | None = None,
    ) -> None:
        self.ttnn, self.device, self.dtype = ttnn, device, dtype
        self.rows, self.k, self.n, self.column_tiles = tokens // TILE, k // TILE, n // TILE, column_tiles
        self.unit = unit_columns(self.rows, self.n)
        cores = cores or teams(ttnn, device, tokens, n, [(k, column_tiles)])
        columns, owned = deal(self.k, len(cores)), iter(deal(self.n, sum(map(len, cores))))
        self.groups = [
            self._group(bank, team, columns[bank], [next(owned) for _ in team]) for bank, team in enumerate(cores)
        ]

    def _group(self, bank: int, cores: list[Core], columns: range, owned: list[range]) -> Group:
        workers = []
        shares = deal(len(columns), len(cores)), deal(self.n // self.unit, len(cores))
        for core, own, units, owns in zip(cores, *shares, owned, strict=True):
            # Groups begin with different units, so that an owner does not hear from all of them at once.
            start = bank % max(1, len(units))
            workers.append(Worker(core, own, (*units[start:], *units[:start]), owns))
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

    def cbs(self, own: int, activations: int, partial: int, parts: int, x: int, out: int) -> list[Cb]:
        """Of every worker, but for the weights, under these indices (SplitCbs in kernels/shared/split_cbs.h)."""
        owned = max(len(w.owned) for w in self.workers)
        columns = {own: max(len(w.own) for w in self.workers), activations: self.width, partial: 2 * self.unit}
        columns |= {parts: owned * self.parts, x: owned, out: owned}
        return buffers("bf16", {index: self.rows * n for index, n in columns.items()})

    def slots(self, worker: Worker, column_slots: int = 0) -> int:
        """Slots of the stream that a worker reads. column_slots: for each column of `column_tiles`."""
        return len(worker.own) * column_slots + len(worker.units) * -(-self.width // self.block)

    def movement_args(self) -> Mapping[Core, list[int]]:
        """Runtime args of split_linear.h."""
        owner = {column: worker for worker in self.workers for column in worker.owned}
        args = {}
        for index, group in enumerate(self.groups):
            for i, w in enumerate(group.workers):
                peers = [self.packed(worker.core) for worker in (*group.workers[i:], *group.workers[:i])]
                columns = [unit * self.unit + c for unit in w.units for c in range(self.unit)]
                owners = [self.packed(owner[c].core) | c - owner[c].owned.start << 16 for c in columns]
                own = [index, len(group.columns), w.own.start, len(w.own), group.columns.start]
                args[w.core] = [*own, len(w.owned), w.owned.start, len(peers), len(columns), *peers, *owners]
        return args

    def packed(self, core: Core) -> int:
        """NoC coordinates of a core in a word: x | y << 8."""
        noc = self.device.worker_core_from_logical_core(self.ttnn.CoreCoord(*core))
        packed: int = noc.x | noc.y << 8
        return packed


def stream_cb(what: str, dtype: str, slot: int, slots: int, others: Iterable[Cb]) -> Cb:
    """The buffer of the weights, CB 0: `slots` slots of `slot` tiles, or as many as L1 holds beside `others`.

    what: needs it all, for the `UsageError` where the least does not fit.
    """
    others = list(others)
    check_l1(what, (*others, Cb(0, dtype, LEAST_SLOTS * slot)))
    fit = (CB_BUDGET - sum(cb.bytes for cb in others)) // (slot * TILE_BYTES[dtype])
    return Cb(0, dtype, slot * min(fit, max(slots, LEAST_SLOTS)))


def share_starts(*linears: SplitLinear) -> dict[Core, int]:
    """Where in its bank each core's share of all weights begins, in tiles: its share of the first, then of the next."""
    starts = {}
    for groups in zip(*(linear.groups for linear in linears), strict=True):
        first = 0
        for workers in zip(*(group.workers for group in groups), strict=True):
            starts[workers[0].core] = first
            for linear, group, worker in zip(linears, groups, workers, strict=True):
                first += len(worker.own) * linear.column_tiles
                first += len(worker.units) * linear.unit * len(group.columns)
    return starts


def in_bank_order(*weights: tuple[SplitLinear, torch.Tensor, torch.Tensor | None]) -> Any:
    """Weights of one program as one tensor on the device, shares where `share_starts` says.

    Of each linear [k, n], and where it has column_tiles [k / 32, column_tiles, 32, 32].
    """
    first = weights[0][0]
    banks: list[list[torch.Tensor]] = [[] for _ in range(first.device.dram_grid_size().x)]
    tiles = [tiles_of(weight) for _, weight, _ in weights]
    for groups in zip(*(linear.groups for linear, _, _ in weights), strict=True):
        bank = banks[groups[0].bank]
        for workers in zip(*(group.workers for group in groups), strict=True):
            for (linear, _, columns), tile, group, worker in zip(weights, tiles, groups, workers, strict=True):
                rows = tile[group.columns.start : group.columns.stop]
                if columns is not None:
                    bank += [columns[group.columns[c]] for c in worker.own]
                bank += [rows[:, u * linear.unit : (u + 1) * linear.unit].reshape(-1, TILE, TILE) for u in worker.units]
    stacked = [torch.cat(bank) if bank else tiles[0][:0, 0] for bank in banks]
    return to_banks(first.ttnn, first.device, stacked, first.dtype)
