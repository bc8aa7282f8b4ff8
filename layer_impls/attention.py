"""The op graph with its attention in one kernel: flash decode over the valid rows alone.

Replaces     scaled_dot_product_attention_decode, concat_heads, and the mask: 19 ops become 18. S is read from the
             context's buffer, so that one program serves every S
Core map     two feeders next to each DRAM bank read what the bank holds of K and V and send it on; the other cores are
             workers, 11 a KV head on 11 x 10 (14 on 13 x 10), each with the queries of a head and a part of its rows:
             13 or 14 tile rows at S 4700. Each worker also merges its part of the output from what all have
us a call    predicted, not measured on silicon, on 11 x 10 (13 x 10):
                 S 4700   47.4 (47.6) bf16 cache    36.2 (34.4) bfp8 cache
                 S 1024   17.8 (18.1)               16.5 (17.3)
             bf16 is bound by DRAM: K and V come at 485 of 500 GB/s, then 3.2 us for the last rows and the merge. bfp8
             is bound by compute: what is left of the softmax when K has come, then the product with V
Limits       workers whose rows do not fit L1 take them in blocks, and read for themselves, at 344 GB/s; so do cores
             with several heads. At most 32 workers share a head
Precision    products at HiFi2 into fp32, scores kept in fp32, chunks of V added up in bf16: 1.1 % from an exact
             attention at S 4700, the op graph 2.6 %. HiFi3, which keeps the lowest bit of the queries, gives 0.5 % and
             takes 1.2 us more (bfp8 5.2)

Versions, predicted us at S 4700 on 11 x 10, bf16 (bfp8), with a launch 1.3 longer
    95.9 (67.8)  each worker reads its rows of K, then of V, 12 chunks ahead: the last to ask computes alone
    80.1         two chunks ahead: all get their rows at the same pace, 344 GB/s
    52.4 (43.2)  feeders next to the banks; the queries read once a head and passed on
    50.1 (42.2)  maxima and totals merged before the last rows of V, sums sent row by row
    49.2 (41.2)  partial results sent in bf16
    49.0 (38.4)  maxima chunk by chunk as K comes; feeders do not wait for pages to leave
    48.6 (37.6)  totals merged while the sums travel; maxima two rows at a time

CBs of a core, for R x D tiles of queries (4 x 4 at the real shape), B tile rows of K and V (24), W workers, of which
each merges r x c tiles (1 x 2); indices as in kernels/attention/cbs.h. Those with a + exist where there are blocks
    0  queries        bf16  R D       9  maxima          bf16  2 R       18  sums out          bf16  R D
    1  K              cache B D      10+ old maxima      bf16  2 R       19  all maxima        bf16  W r
    2  V              cache B D      11+ old totals      fp32  2 R       20  all totals        bf16  W r
    3  ones           bf16  1        12+ old sums        fp32  2 R D     21  all sums          bf16  W r c
    4  mask           bf16  1        13+ fades           bf16  R         22  greatest maximum  bf16  1
    5  for compute    bf16  1        14  pages to feed   cache 36        23  factors           bf16  W r
    6  S              bf16  1        16  maxima out      bf16  R         24  1 / total         fp32  r
    7  scores         fp32  R B      17  totals out      bf16  R         25  output            bf16  c
    8  weights        bf16  R B
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.errors import UsageError
from harness.implementation import LayerEnv
from harness.shape import TILE, LayerShape
from layer_impls._program import (
    CB_BUDGET,
    Cb,
    Core,
    Kernel,
    Program,
    Rectangle,
    Team,
    accessor_args,
    buffers,
    empty_tile_tensor,
    fp32_bits,
)
from layer_impls._weights import bank_neighbours
from layer_impls.op_graph import MatmulOptions, OpGraph, OpGraphOptions

MOST_WORKERS = 32  # of a unit: with more, what they exchange outweighs what they share
CHUNK = 4  # tile rows of K and V that travel together (rows.h)
IDLE, WORKER, FEEDER = range(3)  # roles (roles.h)
FEEDERS = 2  # of a bank
FEED_SLOTS = 12


@dataclass(frozen=True)
class Split:
    """Who does what, for a cache of so many rows.

    A unit is a KV head with all or some of the queries it serves. Either several cores, its workers, share the rows of
    K and V of a unit, or a core takes several units.

    head_tiles      tiles of a row of a head
    units_a_head    more than one where the queries of a head do not fit one core
    rows            tile rows of queries in a unit
    block           most tile rows of K and V that a core works on at once; `blocks` of them at most
    workers         cores of a unit
    units_a_core    1 if a unit has several workers
    feeders         cores next to each DRAM bank that read for the workers; 0: workers read for themselves
    feed_slot       pages that a feeder handles at once
    """

    head_tiles: int
    units: int
    units_a_head: int
    rows: int
    block: int
    blocks: int
    workers: int
    units_a_core: int
    feeders: int
    feed_slot: int

    @property
    def owned(self) -> tuple[int, int]:
        """The part of a unit's output, rows x head_tiles, that a worker merges: whole rows, or a part of one."""
        if self.workers < self.rows:
            return -(-self.rows // self.workers), self.head_tiles
        divisors = (n for n in range(1, self.head_tiles + 1) if self.head_tiles % n == 0)
        return 1, self.head_tiles // max(n for n in divisors if n * self.rows <= self.workers)

    def owned_rows(self, worker: int) -> int:
        """Rows of the part that this worker owns."""
        r, c = self.owned
        return max(0, min(r, self.rows - worker // (self.head_tiles // c) * r))

    def cbs(self, cache: str) -> list[Cb]:
        """The circular buffers of a core, as in kernels/attention/cbs.h."""
        R, D, B, W = self.rows, self.head_tiles, self.block, self.workers
        r, c = self.owned
        kept = [*buffers("bf16", {10: 2 * R, 13: R}), *buffers("fp32", {11: 2 * R, 12: 2 * R * D})]
        return [
            *buffers("bf16", {0: R * D, 3: 1, 4: 1, 5: 1, 6: 1, 8: R * B, 9: 2 * R, 16: R, 17: R, 18: R * D}),
            *buffers("bf16", {19: W * r, 20: W * r, 21: W * r * c, 22: 1, 23: W * r, 25: c}),
            *buffers("fp32", {7: R * B, 24: r}),
            *buffers(cache, {1: B * D, 2: B * D, 14: max(1, FEED_SLOTS * self.feed_slot)}),
            *(kept if self.blocks > 1 else []),
        ]


def scale_bits(shape: LayerShape) -> int:
    """The scale of the scores as the SFPU takes it: the upper half of an fp32, rounded."""
    return fp32_bits(shape.head_dim**-0.5) + (1 << 15) >> 16


def splits(shape: LayerShape, cores: int, banks: int, Smax: int) -> Iterator[Split]:
    """Best first: fewest units a head with blocks of a chunk at least, then the largest block.

    Feeders send without asking whether there is room, so they are for workers that hold all rows of their one unit.
    """
    query_rows, cache_rows, D = shape.tokens * shape.group // TILE, Smax // TILE, shape.head_dim // TILE
    for least in (CHUNK, 1):
        for units_a_head in (n for n in range(1, query_rows + 1) if query_rows % n == 0):
            units = shape.n_kv_heads * units_a_head
            for feeders in (FEEDERS, 0):
                working = cores - feeders * banks
                workers = max(1, min(working // units, MOST_WORKERS, cache_rows))
                share, units_a_core = -(-cache_rows // workers), -(-units // working)
                slot = -(-CHUNK * D // banks) + 1 if feeders else 0
                for block in range(share, min(least, share) - 1, -1):
                    blocks = -(-share // block)
                    if feeders and (blocks, units_a_core) != (1, 1):
                        break
                    rows = query_rows // units_a_head
                    yield Split(D, units, units_a_head, rows, block, blocks, workers, units_a_core, feeders, slot)


def split(shape: LayerShape, cores: int, banks: int, Smax: int, cache: str) -> Split:
    """The best that fits L1. Raises `UsageError` if none does."""
    needs = []
    for found in splits(shape, cores, banks, Smax):
        needs.append(sum(cb.bytes for cb in found.cbs(cache)))
        if needs[-1] <= CB_BUDGET:
            return found
    raise UsageError(f"attention takes {min(needs)} B of a core's L1 at least, and at most {CB_BUDGET} B fit")


class Attention(OpGraph):
    """Attention over rows [0, S) and the own rows, heads side by side in the output."""

    Options: ClassVar[type] = MatmulOptions

    def __init__(self, env: LayerEnv, options: MatmulOptions) -> None:
        super().__init__(env, OpGraphOptions(matmul=options.matmul))
        self.attention_programs: dict[int, Program] = {}  # by rows of the cache

    def _check_attention(self) -> None:
        self._split(self.env.context.Smax)

    def _prepare_attention(self) -> None:
        pass  # no mask

    def _split(self, Smax: int) -> Split:
        banks = self.env.device.dram_grid_size().x
        return split(self.env.shape, self.grid.x * self.grid.y, banks, Smax, self.env.cache_dtype)

    def _attend(self, q: Any, k_cache: Any, v_cache: Any) -> Any:
        ttnn, s, valid = self.env.ttnn, self.env.shape, self.env.context.valid_rows
        Smax = k_cache.shape[2]
        out = empty_tile_tensor(ttnn, self.env.device, (1, 1, s.tokens, s.q_dim))
        reads = [q, k_cache, v_cache, valid]
        if Smax not in self.attention_programs:
            self.attention_programs[Smax] = self._build_attention(self._split(Smax), reads, out)
        rows = Smax // TILE
        return self.attention_programs[Smax].launch(
            [*reads, out], [*(t.buffer_address() for t in reads), rows], [out.buffer_address(), rows]
        )

    def _build_attention(self, split: Split, reads: list[Any], out: Any) -> Program:
        ttnn, s = self.env.ttnn, self.env.shape
        whole = Rectangle(0, 0, self.grid.x, self.grid.y)
        feeders = self._feeders(split.feeders)
        teams = -(-split.units // split.units_a_core)
        cores = [core for core in whole.cores if core not in feeders][: teams * split.workers]
        places = [self._place(core) for core in cores]
        reader: dict[Core, list[int]] = {core: [IDLE, 0, 0] for core in whole.cores}
        writer = dict(reader)
        compute: dict[Core, list[int]] = {core: [0, 0] for core in whole.cores}
        for i, core in enumerate(cores):
            team, worker = divmod(i, split.workers)
            first = team * split.units_a_core
            units = min(split.units_a_core, split.units - first)
            members = places[i - worker : i - worker + split.workers]
            reader[core] = writer[core] = [WORKER, first, units, worker, *members]
            compute[core] = [units, split.owned_rows(worker)]
        for core, (bank, feeder) in feeders.items():
            reader[core] = [FEEDER, bank, feeder]
            writer[core] = [FEEDER, bank, feeder, *places]
        banks = self.env.device.dram_grid_size().x
        own_rows, D, R, B, W = s.tokens // TILE, split.head_tiles, split.rows, split.block, split.workers
        mapping = [split.units, split.units_a_head, split.feeders, banks, split.feed_slot, FEED_SLOTS]
        return Program(
            ttnn,
            "attention",
            [
                Team(
                    [whole],
                    split.cbs(self.env.cache_dtype),
                    Kernel([R, D, B, W, own_rows, *mapping, *accessor_args(ttnn, *reads)], reader),
                    Kernel([R, D, B, W, *split.owned, scale_bits(s), int(split.blocks > 1)], compute),
                    Kernel([R, D, W, *split.owned, own_rows, s.n_heads, *mapping, *accessor_args(ttnn, out)], writer),
                    fidelity="HiFi2",
                )
            ],
            semaphores=4 + banks,
        )

    def _feeders(self, each: int) -> dict[Core, tuple[int, int]]:
        """Cores in the NoC rows of the DRAM banks, `each` a bank: bank and number of each."""
        if not each:
            return {}
        near = bank_neighbours(self.env.ttnn, self.env.device)
        feeders = {core: (bank, 0) for bank, core in enumerate(near)}
        for n in range(1, each):
            for bank, (column, row) in enumerate(near):
                nearest = ((x, row) for x in sorted(range(self.grid.x), key=lambda x: abs(x - column)))
                feeders[next(place for place in nearest if place not in feeders)] = bank, n
        return feeders

    def _place(self, core: Core) -> int:
        """NoC coordinates of a worker core, x in the upper half."""
        x, y = self._noc(core)
        return x << 16 | y
