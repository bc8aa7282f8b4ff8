"""Who does what in the one program of `fused_layer`, and where it lies in L1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.dtypes import TILE_BYTES
from harness.errors import UsageError
from harness.shape import TILE
from layer_impls._l1 import Use, share
from layer_impls._program import Cb, Core, Rectangle, Shared, buffers
from layer_impls._split_linear import LEAST_SLOTS
from layer_impls.attention import FEEDERS, Split, splits
from layer_impls.qkv_heads import SLOT_ROWS

if TYPE_CHECKING:
    from layer_impls.fused_layer import FusedLayer


def _named(first: int, *names: str) -> dict[int, str]:
    return dict(enumerate(names, first))


NAMES = {
    **_named(0, "x", "wqkv", "tables"),
    **_named(
        4, "partial z", "z", "squares of x", "cos", "sin", "squares of z", "sums", "sums to send", "sums received"
    ),
    **_named(13, "factors", "rotated z"),
    **_named(16, "q", "K or V", "queries", "K", "V", "ones", "mask", "for compute", "S", "scores", "weights of V"),
    **_named(27, "maxima"),
    **_named(32, "pages to feed"),
    **_named(34, "maxima out", "totals out", "sums out", "all maxima", "all totals", "all sums", "greatest maximum"),
    **_named(41, "fades", "1 / total", "output", "w1, w3 and w2", "norm of x1", "asked"),
    **_named(47, "row of x1", "ones", "squares of x1", "1 / rms", "o", "partial results", "parts of x1", "x"),
    **_named(55, "x1", "x1 again", "own MLP columns", "MLP columns", "parts of the output", "output", "turn", "wo"),
}  # of circular buffers
QKV, ATTENTION, REST, DOWN = range(4)  # blocks, in order; down: w2, when the norm of x1 is over
QKV_WEIGHTS, FEED, WEIGHTS, WO_WEIGHTS = 1, 32, 44, 62  # circular buffers (kernels/fused_layer/plan.h)
CHAINED_SLOTS = 8  # of w1, w3 and w2
BUDGET = 1_455_000  # bytes of L1: of the 1,461,120 above what ttnn reserves, all but some small tensors


@dataclass(frozen=True)
class Roles:
    """feeders: bank and number of each. leaders: norm a tile row each. workers: all others. attending: those of them
    with a unit of the attention, unit by unit."""

    feeders: dict[Core, tuple[int, int]]
    leaders: list[Core]
    workers: list[Core]
    attending: list[Core]


@dataclass(frozen=True)
class Plan:
    """split: of the attention. memory: circular buffers of every core."""

    split: Split
    roles: Roles
    memory: list[Shared]

    def lines(self) -> list[str]:
        """The attention's split and the L1 of a core, to read."""
        split, (r, c) = self.split, self.split.owned
        used = sum(place.bytes for place in self.memory)
        return [
            f"attention: {split.units} units of {split.rows} tile rows of queries, {split.workers} workers each, up to "
            f"{split.block} tile rows of K and V; an owner merges {r} x {c} tiles; {len(self.roles.feeders)} feeders",
            f"leaders of the norm: {', '.join(map(str, self.roles.leaders))}",
            f"L1 of a core: {used:,} of {BUDGET:,} B; what shares memory is there at different times",
            *(
                f"{place.bytes:>9,} B  {'; '.join(f'{NAMES[cb.index]} {cb.bytes:,}' for cb in place.cbs)}"
                for place in self.memory
            ),
        ]

    @property
    def rewound(self) -> list[int]:
        """Two words with a bit for each circular buffer that begins anew in each layer: all but the last weights, which
        RISCV_1 does not wait for."""
        bits = sum(1 << cb.index for place in self.memory for cb in place.cbs if cb.index != WEIGHTS)
        return [bits & 0xFFFFFFFF, bits >> 32]

    def slots(self, index: int, tiles: int) -> int:
        """Slots of `tiles` tiles that the stream with this index has."""
        place = next(place for place in self.memory if any(cb.index == index for cb in place.cbs))
        dtype = next(cb.dtype for cb in place.cbs if cb.index == index)
        return place.bytes // (tiles * TILE_BYTES[dtype])


def plan_layer(layer: FusedLayer, Smax: int) -> Plan:
    """The first split of the attention whose buffers fit L1 with all others. Raises `UsageError` if none does."""
    env, needs = layer.env, []
    leaders = env.shape.tokens // TILE
    cores, banks = layer.grid.x * layer.grid.y - leaders, env.device.dram_grid_size().x
    what = f"a layer of {env.shape.tokens} tokens, hidden {env.shape.hidden} and a cache of {Smax} rows in one program"
    leads, weights = layer.qkv_plan.leaders, {worker.core for worker in layer.wo.workers}
    if layer.layers_per_call > 1 and weights.intersection(leads):
        raise UsageError(
            f"{what} with others takes two cores that multicast x and have no weights to multiply by; here "
            f"{' and '.join(map(str, leads))} have some, so use layers_per_program=1"
        )
    for split in splits(env.shape, cores, banks, Smax):
        if not split.feeders:
            continue
        for slots in _stream_slots(layer):
            memory = share(_uses(layer, split, *slots), BUDGET)
            needs.append(sum(place.bytes for place in memory))
            if needs[-1] <= BUDGET:
                return Plan(split, _roles(layer, split, leaders, what), memory)
    if not needs:
        feeders = FEEDERS * banks
        raise UsageError(
            f"{what} takes a core for each of {env.shape.n_kv_heads} KV heads; {leaders} for the norm and {feeders} to "
            f"read K and V leave {cores - feeders} of {cores + leaders}; use fused_blocks"
        )
    raise UsageError(f"{what} takes {min(needs)} B of a core's L1, and at most {BUDGET} B fit; use fused_blocks")


def _roles(layer: FusedLayer, split: Split, leaders: int, what: str) -> Roles:
    """Leaders have nothing else to do: they are cores that x is not sent to and that no bank's weights are for."""
    grid = Rectangle(0, 0, layer.grid.x, layer.grid.y)
    feeders = layer._feeders(split.feeders)
    weights = {worker.core for worker in layer.wo.workers}
    free = [core for core in grid.cores if core not in {*feeders, *weights, *layer.qkv_plan.cores.cores}]
    if len(free) < leaders:
        raise UsageError(
            f"{what} takes cores for the norm that nothing else is for, {leaders} of {len(grid.cores)}; those that x, "
            f"weights, K and V go to leave {len(free)}; use fused_blocks"
        )
    leading = free[-leaders:]
    workers = [core for core in grid.cores if core not in feeders and core not in leading]
    return Roles(feeders, leading, workers, workers[: split.units * split.workers])


def _stream_slots(layer: FusedLayer) -> Iterator[tuple[int, int, int]]:
    """Slots for wqkv, for wo and for the others, best first: whole shares, then less of wo, then less of wqkv. The
    others get what is left; of several layers, where less is, more is asked for first."""
    whole = max(LEAST_SLOTS, *(layer.wo.slots(worker) for worker in layer.wo.workers))
    for slots in (CHAINED_SLOTS, LEAST_SLOTS) if layer.layers_per_call > 1 else (LEAST_SLOTS,):
        for qkv_slots in (layer.slots, LEAST_SLOTS):
            for wo_slots in range(whole, LEAST_SLOTS - 1, -1):
                yield qkv_slots, wo_slots, slots


def _uses(layer: FusedLayer, split: Split, qkv_slots: int, wo_slots: int, slots: int) -> list[Use]:
    """The circular buffers of a core, and when they are in use: indices as in kernels/fused_layer/plan.h."""
    chained = layer.layers_per_call > 1
    s, wo, w2, weights = layer.env.shape, layer.wo, layer.w2, layer.env.weight_dtype
    hidden, rows, columns, wo_slot = s.hidden // TILE, s.tokens // TILE, SLOT_ROWS * layer.columns, wo.unit * wo.block
    sent = (11, 16, 17)  # while compute may already be in the next block
    qkv = [
        Use(Cb(QKV_WEIGHTS, weights, qkv_slots * columns), DOWN if chained else QKV, QKV, stream=columns),
        *(Use(cb, QKV, ATTENTION if cb.index in sent else QKV, wraps=cb.index != 0) for cb in layer._qkv_cbs(0)),
    ]
    own = (7, 8, 9, 16, 17, 18, 22, 23, 24, 25)  # written by compute alone; what others write may come at once
    attention = [
        Use(
            Cb(FEED - 14 + cb.index, cb.dtype, cb.tiles),
            ATTENTION if cb.index in own else QKV,
            ATTENTION,
            "feeder" if cb.index == 14 else "worker" if cb.index not in (5, 6) else None,
            wraps=cb.index in (4, 9, 22, 25),
            stream=split.feed_slot if cb.index == 14 else 0,
        )
        for cb in split.cbs(layer.env.cache_dtype)
    ]
    sums = [*wo.cbs(0, 51, 52, 53, 54, 55)[1:], *w2.cbs(57, 58, 52, 59, 56, 60)]
    begin = {51: ATTENTION, 53: ATTENTION, 54: QKV}  # o and partial results from other cores; x, read at once
    rest = [
        Use(Cb(WEIGHTS, weights, slots * layer.stream_slot), REST, DOWN, stream=layer.stream_slot),
        Use(Cb(WO_WEIGHTS, weights, wo_slots * wo_slot), ATTENTION, DOWN, stream=wo_slot),
        *(Use(cb, REST, REST, wraps=False) for cb in buffers("bf16", {45: rows * hidden, 47: hidden})),
        *(Use(cb, REST, REST) for cb in (*buffers("bf16", {48: 1}), *buffers("fp32", {49: 1, 50: 1}))),
        *(
            Use(cb, begin.get(cb.index, REST), DOWN, wraps=cb.index == 52)
            for cb in {cb.index: cb for cb in sums}.values()
        ),
    ]
    turns = buffers("bf16", {61: 1, 46: 1} if chained else {61: 1})
    return [*qkv, *attention, *rest, *(Use(cb, QKV, DOWN) for cb in turns)]
