"""A linear whose K is split over the DRAM banks and whose N over the cores next to each bank; kernels/shared/split_linear.h.

The cores of a bank are a group. It holds a range of K, [columns of activations] x [all of N], and each of its cores a
range of N of that. The cores of a group bring each other the group's columns of activations (`own`: a core's part of
them), and every core sends its partial results to the owners of their columns: an output column has one owner, which
adds a partial result from each group and the residual.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.shape import TILE
from layer_impls._program import Cb, Core, buffers
from layer_impls._weights import bank_cores, block_rows, deal

DEST_TILES = 4  # fp32, half of DEST


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


@dataclass(frozen=True)
class SplitLinear:
    """Who does what in `rows` x `k` x `n` tiles; a unit is `unit` columns of N, what DEST holds."""

    rows: int
    k: int
    n: int
    dtype: str
    unit: int
    groups: tuple[Group, ...]

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

    def cbs(self) -> list[Cb]:
        """All but the weights: with what every core sends and receives."""
        own = max(len(w.own) for w in self.workers)
        owned = max(len(w.owned) for w in self.workers)
        bf16 = {1: own, 2: self.width, 5: owned, 16: owned}
        return [
            *buffers("bf16", {index: columns * self.rows for index, columns in bf16.items()}),
            *buffers("fp32", {3: 2 * self.unit * self.rows, 4: owned * self.parts * self.rows}),
        ]

    def movement_args(self, noc: Callable[[Core], tuple[int, int]]) -> Mapping[Core, list[int]]:
        """Runtime args of split_linear.h. noc: NoC coordinates of a core."""
        owner = {column: worker for worker in self.workers for column in worker.owned}

        def packed(core: Core, place: int = 0) -> int:
            x, y = noc(core)
            return x | y << 8 | place << 16

        args = {}
        for index, group in enumerate(self.groups):
            for i, w in enumerate(group.workers):
                peers = [packed(worker.core) for worker in (*group.workers[i:], *group.workers[:i])]
                columns = [unit * self.unit + i for unit in w.units for i in range(self.unit)]
                owners = [packed(owner[c].core, c - owner[c].owned.start) for c in columns]
                own = [index, len(group.columns), w.own.start, len(w.own), group.columns.start]
                args[w.core] = [*own, len(w.owned), w.owned.start, len(peers), len(columns), *peers, *owners]
        return args


def split_linear(ttnn: Any, device: Any, tokens: int, k: int, n: int, dtype: str, column_tiles: int = 0) -> SplitLinear:
    """Share [tokens, k] x [k, n] out. column_tiles: tiles of other weights that bringing a column of K costs a core.

    A group has as many cores as make the busiest one's share smallest, and of those numbers the smallest.
    """
    rows, k_tiles, n_tiles = tokens // TILE, k // TILE, n // TILE
    unit = next(u for u in range(max(1, DEST_TILES // rows), 0, -1) if n_tiles % u == 0)
    units = n_tiles // unit
    cores = bank_cores(ttnn, device)[:k_tiles]
    columns = deal(k_tiles, len(cores))

    def busiest(bank: int, workers: int) -> int:
        own, n_units = -(-len(columns[bank]) // workers), -(-units // workers)
        return own * column_tiles + n_units * unit * len(columns[bank])

    sizes = [min(range(1, len(c) + 1), key=lambda w, b=bank: busiest(b, w)) for bank, c in enumerate(cores)]  # type: ignore[misc]
    owned = iter(deal(n_tiles, sum(sizes)))
    groups = []
    for bank, (available, size) in enumerate(zip(cores, sizes, strict=True)):
        own, shares = deal(len(columns[bank]), size), deal(units, size)
        # Groups begin with different units, so that an owner does not hear from all of them at once.
        orders = [[*share[start:], *share[:start]] for share in shares for start in [bank % max(1, len(share))]]
        workers = [Worker(available[i], own[i], tuple(orders[i]), next(owned)) for i in range(size)]
        groups.append(Group(bank, columns[bank], tuple(workers)))
    return SplitLinear(rows, k_tiles, n_tiles, dtype, unit, tuple(groups))
