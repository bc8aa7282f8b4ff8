"""The layer in one program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness.dtypes import TILE_BYTES
from harness.errors import UsageError
from harness.implementation import LayerEnv, NoOptions
from harness.shape import TILE
from layer_impls._l1 import Use, share
from layer_impls._program import (
    Cb,
    Core,
    Kernel,
    Program,
    Rectangle,
    Shared,
    accessor_args,
    buffers,
    empty_tile_tensor,
    fp32_bits,
)
from layer_impls._split_linear import LEAST_SLOTS, share_starts
from layer_impls._weights import deal
from layer_impls.attention import FEEDER, IDLE, WORKER, Split, splits
from layer_impls.fused_blocks import FusedBlocks
from layer_impls.qkv_heads import CHUNKS, SLOT_ROWS
from layer_impls.qkv_heads import Share as Heads

QKV, ATTENTION, REST = range(3)  # blocks, in order
REST_NONE, REST_WORKER, REST_LEADER = range(3)  # (kernels/fused_layer/plan.h)
ATTENTION_CBS = 18  # the first of them (plan.h)
WEIGHTS, TURN, WO_WEIGHTS = 44, 61, 62
BUDGET = 1_455_000  # bytes of L1: of the 1,461,120 above what ttnn reserves, all but some small tensors


@dataclass(frozen=True)
class Plan:
    """split: of the attention. memory: of every core. of_stream: memory by the index of a stream."""

    split: Split
    memory: list[Shared]

    def slots(self, index: int, tiles: int) -> int:
        """Slots of `tiles` tiles that the stream with this index has."""
        place = next(m for m in self.memory if any(cb.index == index for cb in m.cbs))
        dtype = next(cb.dtype for cb in place.cbs if cb.index == index)
        return place.bytes // (tiles * TILE_BYTES[dtype])


class FusedLayer(FusedBlocks):
    """One program; weights as `fused_blocks` has them."""

    def __init__(self, env: LayerEnv, options: NoOptions) -> None:
        super().__init__(env, options)
        self.slot = 1 << (self.slot - 1).bit_length()
        self.layer_programs: dict[int, Program] = {}  # by rows of the cache
        self._plan(env.context.Smax)

    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        ttnn, context, w = self.env.ttnn, self.env.context, self.weights[i]
        out = empty_tile_tensor(ttnn, self.env.device, x.shape)
        tables = [context.cos, context.sin, w["q_norm"], w["k_norm"], w["scalers"]]
        streams = [x, w["wqkv"], k_cache, v_cache, context.valid_rows, w["rest"]]
        Smax = k_cache.shape[2]
        if Smax not in self.layer_programs:
            self.layer_programs[Smax] = self._build_layer(x, context, w, k_cache)
        rows = Smax // TILE
        written = [t.buffer_address() for t in (x, *tables, k_cache, v_cache)]
        return self.layer_programs[Smax].launch(
            [*streams, *tables, out],
            [*(t.buffer_address() for t in streams), rows],
            [*written, rows, out.buffer_address(), *self._feeder_places()],
        )

    def _plan(self, Smax: int) -> Plan:
        """The first split of the attention whose buffers fit L1 with all others. Raises `UsageError` if none does."""
        needs = []
        for split in splits(self.env.shape, self.grid.x * self.grid.y, self.env.device.dram_grid_size().x, Smax):
            if not split.feeders:
                continue
            for qkv_slots, wo_slots in self._stream_slots():
                memory = share(self._uses(split, qkv_slots, wo_slots), BUDGET)
                needs.append(sum(m.bytes for m in memory))
                if needs[-1] <= BUDGET:
                    return Plan(split, memory)
        raise UsageError("to do")

    def _stream_slots(self) -> Iterator[tuple[int, int]]:
        """Slots for wqkv and for wo, best first: whole shares, then less of wo, then less of wqkv."""
        whole = max(LEAST_SLOTS, *(self.wo.slots(worker) for worker in self.wo.workers))
        for qkv_slots in (self.slots, LEAST_SLOTS):
            for wo_slots in range(whole, LEAST_SLOTS - 1, -1):
                yield qkv_slots, wo_slots

    def _uses(self, split: Split, qkv_slots: int, wo_slots: int) -> list[Use]:
        """The circular buffers of a core, and when they are in use: indices as in kernels/fused_layer/plan.h."""
        s, wo, w2 = self.env.shape, self.wo, self.w2
        hidden, rows = s.hidden // TILE, s.tokens // TILE
        columns = SLOT_ROWS * self.columns
        sent = (11, 16, 17)  # while compute may already be in the next block
        qkv = [
            Use(Cb(1, self.env.weight_dtype, qkv_slots * columns), QKV, QKV, stream=columns),
            *(Use(cb, QKV, ATTENTION if cb.index in sent else QKV, wraps=cb.index != 0) for cb in self._qkv_cbs(0)),
        ]
        own = (7, 8, 9, 16, 17, 18, 22, 23, 24, 25)  # written by compute alone
        attention = [
            Use(
                Cb(ATTENTION_CBS + cb.index, cb.dtype, cb.tiles),
                ATTENTION if cb.index in own else QKV,
                ATTENTION,
                "feeder" if cb.index == 14 else "worker" if cb.index not in (5, 6) else None,
                wraps=cb.index in (4, 9, 22, 25),
                stream=split.feed_slot if cb.index == 14 else 0,
            )
            for cb in split.cbs(self.env.cache_dtype)
        ]
        sums = [*wo.cbs(0, 51, 52, 53, 54, 55)[1:], *w2.cbs(57, 58, 52, 59, 56, 60)]
        by_index = {cb.index: cb for cb in sums}
        wo_slot = wo.unit * wo.block
        early = (51, 53)  # come from other cores while this one may be at the attention
        rest = [
            Use(Cb(WEIGHTS, self.env.weight_dtype, LEAST_SLOTS * self.slot), REST, REST, stream=self.slot),
            Use(Cb(WO_WEIGHTS, self.env.weight_dtype, wo_slots * wo_slot), ATTENTION, REST, stream=wo_slot),
            *(Use(cb, REST, REST, wraps=False) for cb in buffers("bf16", {45: rows * hidden, 47: hidden})),
            *(Use(cb, REST, REST) for cb in (*buffers("bf16", {48: 1}), *buffers("fp32", {49: 1, 50: 1}))),
            *(Use(cb, QKV if cb.index == 54 else ATTENTION if cb.index in early else REST, REST, wraps=cb.index == 52) for cb in by_index.values()),
        ]
        return [*qkv, *attention, *rest, Use(Cb(TURN, "bf16", 1), QKV, REST)]

    def _build_layer(self, x: Any, context: Any, w: dict[str, Any], cache: Any) -> Program:
        ttnn, s, plan = self.env.ttnn, self.env.shape, self._plan(cache.shape[2])
        split, wo, w2, p = plan.split, self.wo, self.w2, self.qkv_plan
        d, rows, k_tiles, banks = s.head_dim // TILE, s.tokens // TILE, s.hidden // TILE, len(self._banks())
        grid = Rectangle(0, 0, self.grid.x, self.grid.y)
        feeders = self._feeders(split.feeders)
        cores = [core for core in grid.cores if core not in feeders][: split.units * split.workers]
        workers = {core: divmod(i, split.workers) for i, core in enumerate(cores)}
        self.layer_roles = feeders, workers
        rest = {a.core: (g, h, a, b) for g, h in zip(wo.groups, w2.groups, strict=True)
                for a, b in zip(g.workers, h.workers, strict=True)}
        idle = [core for core in grid.cores if core not in rest]
        leaders = sorted(idle, key=lambda core: core in workers)[: rows]
        heads_and_rows = [s.n_heads, s.n_kv_heads, d, rows, p.parts, k_tiles]
        chunk = -(-k_tiles // CHUNKS)
        own_rows = s.tokens // TILE
        x_chunks = -(-(-(-k_tiles // chunk)) // 2)  # of NoC 0
        r, c = split.owned
        qkv_slots = plan.slots(1, SLOT_ROWS * self.columns)
        blocks = [wo.unit, wo.block, wo.n, self.gate_up_block, w2.block, self.slot]
        feed_slots = plan.slots(ATTENTION_CBS + 14, split.feed_slot)
        mapping = [split.units, split.units_a_head, split.feeders, banks, split.feed_slot, feed_slots]
        corners = [n for core in (grid.last, grid.cores[0]) for n in self._noc(core)]
        reader, compute, writer, reading = {}, {}, {}, {}
        starts = share_starts(wo, w2)
        shares = {share_.core: share_ for share_ in p.shares}
        lead_0, lead_1, no_lead = self._leads(p.cores)
        head_bytes = k_tiles * self.columns * TILE_BYTES[self.env.weight_dtype]
        first_args, second_args = wo.movement_args(), w2.movement_args()
        to_leaders = [wo.packed(core) for core in leaders]
        for core in grid.cores:
            mine = shares.get(core, Heads(core, 0, 0, range(0), 0, core))
            squared = deal(k_tiles, p.parts)[mine.part]
            own = [mine.heads.start, len(mine.heads), mine.part]
            reader[core] = [mine.bank, mine.heads_before * head_bytes, len(mine.heads)]
            reader[core] += lead_0 if core == p.leaders[0] else no_lead
            reader[core] += [self._place(f) for f, (bank, _) in feeders.items() if bank == mine.bank]
            reader[core] += [int(core in p.cores.cores)]
            compute[core] = [*own, squared.start, squared.stop]
            writer[core] = [*own, *self._noc(mine.partner), *(lead_1 if core == p.leaders[1] else no_lead)]
            owned = rest[core][2].owned if core in rest else range(0)
            writer[core] += [owned.start, len(owned), int(core in p.cores.cores)]
            for head in mine.heads:
                if head < s.n_heads:
                    first_unit = head // s.group * split.units_a_head
                    team = cores[first_unit * split.workers : (first_unit + split.units_a_head) * split.workers]
                    writer[core] += map(self._place, team)
            if core in feeders:
                bank, feeder = feeders[core]
                next_ = [self._place(c) for c, (g, *_) in rest.items() if g.bank == bank]
                reading[core] = [FEEDER, bank, feeder, sum(m.bank == bank for m in p.shares), len(next_), *next_]
                compute[core] += [0, 0]
                writer[core] += [FEEDER, bank, feeder, *map(self._place, cores)]
            elif core in workers:
                unit, worker = workers[core]
                reading[core] = [WORKER, unit, worker]
                compute[core] += [1, split.owned_rows(worker)]
                writer[core] += [WORKER, worker]
                writer[core] += map(self._place, cores[unit * split.workers : (unit + 1) * split.workers])
                writer[core] += [split.owned_rows(worker), *self._receivers(split, unit, worker)]
            else:
                reading[core] = [IDLE, 0, 0]
                compute[core] += [0, 0]
                writer[core] += [IDLE]
            if core in rest:
                first, second, a, b = rest[core]
                work = [len(a.units), len(first.columns), len(b.own), len(second.columns)]
                reader[core] += [REST_WORKER, first.bank, starts[core] * TILE_BYTES[wo.dtype], *work]
                reader[core] += [split.feeders + (x_chunks if core in p.cores.cores else 0)]
                compute[core] += [REST_WORKER, *work, len(a.owned)]
                writer[core] += [REST_WORKER, *first_args[core], *second_args[core], *to_leaders]
            elif core in leaders:
                row = leaders.index(core)
                reader[core] += [REST_LEADER] + [0] * 7
                compute[core] += [REST_LEADER, row]
                writer[core] += [REST_LEADER, row]
            else:
                reader[core] += [REST_NONE] + [0] * 7
                compute[core] += [REST_NONE]
                writer[core] += [REST_NONE]
            reader[core] += reading[core]
        scale = fp32_bits(s.head_dim**-0.5) + (1 << 15) >> 16
        R, D, B, W = split.rows, split.head_tiles, split.block, split.workers
        return Program(
            ttnn,
            "fused_layer",
            [grid],
            plan.memory,
            Kernel(
                [k_tiles, rows, chunk, SLOT_ROWS, self.columns, qkv_slots, *accessor_args(ttnn, x)]
                + [R, D, B, W, own_rows, *mapping, len(p.cores.cores)]
                + [*blocks, plan.slots(WEIGHTS, self.slot), plan.slots(WO_WEIGHTS, wo.unit * wo.block), *accessor_args(ttnn, cache, cache, context.valid_rows)],
                reader,
            ),
            Kernel(
                [*heads_and_rows, SLOT_ROWS, *map(fp32_bits, (1 / s.hidden, s.rms_eps / TILE / p.parts))]
                + [R, D, B, W, r, c, scale, *blocks, wo.parts, fp32_bits(1 / s.hidden), fp32_bits(s.rms_eps)],
                compute,
            ),
            Kernel(
                [*heads_and_rows, chunk, *accessor_args(ttnn, x, context.cos, w["q_norm"], cache)]
                + [s.group, R, D, W, r, c, *mapping, wo.unit, len(wo.groups), wo.parts, wo.n]
                + [*corners, len(grid.cores)],
                writer,
            ),
            semaphores=16,
            fidelity="HiFi2",
            full_sync=wo.rows > 2,
        )

    def _banks(self) -> range:
        return range(self.env.device.dram_grid_size().x)

    def _feeder_places(self) -> list[int]:
        return [self._place(core) for core in self._feeders(2)]

    def _leads(self, cores: Rectangle) -> tuple[list[int], list[int], list[int]]:
        first, last, others = self._noc(cores.cores[0]), self._noc(cores.last), len(cores.cores) - 1
        return [1, *first, *last, others], [1, *last, *first, others], [0] * 6

    def _receivers(self, split: Split, unit: int, worker: int) -> list[int]:
        """For each tile of the attention's output that a worker owns: its place in WO.in, and the cores."""
        s, (r, c) = self.env.shape, split.owned
        rows, d = s.tokens // TILE, split.head_tiles
        first_row, first_column = worker // (d // c) * r, worker % (d // c) * c
        args = []
        for i in range(split.owned_rows(worker)):
            head, row = divmod(unit * split.rows + first_row + i, rows)
            for j in range(c):
                column = head * d + first_column + j
                group = next(g for g in self.wo.groups if column in g.columns)
                place = row * len(group.columns) + group.columns.index(column)
                args += [place, len(group.workers), *(self.wo.packed(w.core) for w in group.workers)]
        return args
