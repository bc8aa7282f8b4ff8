"""The layer in one program: the blocks of `fused_blocks`, from core to core, over one stream of DRAM reads.

Replaces     everything: 19 ops become 1 program; with layers_per_program=N, up to N layers in a row do
Core map     all cores at 11 x 10. Each goes through three blocks, its shares as in qkv_heads, attention and wo_swiglu:
             heads of qkv (64 cores), a unit of the attention (88 workers; 16 feeders read K and V for them), and K of
             wo, w1, w3 and w2 by DRAM bank (59 cores in the banks' rows). A leader a tile row norms x1 and has nothing
             else to do; they multicast on one NoC each. `layerbench plan fused_layer` prints the cores and the L1
Hands over   q to the workers of its head, own K and V through the caches, o to the cores that multiply it by wo, all
             by writes and semaphores (kernels/fused_layer/plan.h says when memory and semaphores change hands)
Stream       a bank is read in one order: wqkv, K and V, wo, w1 and w3, w2. Whoever has asked for the last of one tells
             the next readers, so that nothing comes before what is needed earlier, and the bank never waits: wo has
             memory of its own and comes while attention ends, the others have that of the scores
Layers       of one program: a bank goes on with the next layer's wqkv after w2; x goes from its columns' owners to the
             cores that multicast it, which wait until all are done with the layer (kernels/fused_layer/chain.h)
us a layer   predicted by the emulator (bfp8 weights, Smax 8192), not measured on silicon, on 11 x 10
             (13 x 10); then the least its bytes need
                 S 4700   127.7 (126.9), 120.1   bf16 cache    116.5 (120.4), 101.8   bfp8 cache
                 S 1024    99.2  (99.2),  89.9                  98.7 (103.5),  85.7
Binds        DRAM, at 500 GB/s from 28 to 124 us: 94 % of the floor. Above it are the launch, 2.9; wqkv and K, which
             many cores ask for in small pieces, at 470; 3.2 after the last weight, for its products, their sums, the
             write
Weights      those of fused_blocks: as many bytes as before, padded where banks get unequal numbers of cores
L1           circular buffers that are never in use at once share memory (_l1.py, and _layer_plan.py says when each is):
             1,449,984 of 1,455,000 B at the real shape, Smax 8192. 16 of 16 semaphores; 66 of 69 KB of code, 68 with
             several layers, so what kernels do often is not inlined (kernels/shared/once.h)
Limits       feeders: workers that hold all their rows of K and V in L1. What does not fit says so, and fused_blocks has
             a way for it. Several layers: cores that multicast x have no weights to multiply by

Versions, predicted us at the real shape, bf16 cache, S 4700
    185.0   blocks one after another on each core; idle cores and feeders read at once, HiFi3
    168.7   feeders begin when wqkv has been asked for; the residual is read first, not behind a queue of weights
    156.6   no weights of the last block before all K and V of the bank
    138.6   HiFi2; factors of q and k on the SFPU, which has no fidelity (HiFi2 alone: K rows 1 % short)
    134.1   wo in memory of its own
    127.7   all cores of a bank wait for its feeders, not each for its own part of the attention
    127.7   leaders that are nothing else, at HiFi4, one NoC each: x1's norm 2.4 us earlier, behind DRAM
    dropped: one kernel for all roles (80 KB of code, 69 fit); weights of the last block from the start wherever there
    is room (qkv 14 us later)
    122.4   each further layer in one program (layers_per_program): wqkv comes while w2 is multiplied; the launch, the
            slow start and the end are those of the first and the last
    121.8   8 slots at least for w1, w3 and w2, which wqkv has taken memory from (13 x 10: 121.6, with 3 slots 127.5).
            A layer of 2: 124.8, of 4: 123.3
    dropped: x from layer to layer by way of DRAM (133.5: its writes wait behind wqkv); wqkv as soon as a core has its
    own w2, not all cores of the bank (128.1)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from harness.errors import UsageError
from harness.implementation import LayerEnv, NoOptions
from harness.shape import TILE
from layer_impls._layer_plan import FEED, QKV_WEIGHTS, WEIGHTS, WO_WEIGHTS, Plan, plan_layer
from layer_impls._program import Core, Kernel, Program, Rectangle, Team, accessor_args, empty_tile_tensor, fp32_bits
from layer_impls.attention import FEEDERS, scale_bits
from layer_impls.fused_blocks import FusedBlocks
from layer_impls.qkv_heads import CHUNKS, SLOT_ROWS

MOST_LAYERS = 16  # of a program: what a launch costs is gone long before, and a core has so much room for args


@dataclass(frozen=True)
class FusedLayerOptions:
    """layers_per_program: how many layers in a row a program has at most, where they are asked for together."""

    layers_per_program: int = 1


class FusedLayer(FusedBlocks):
    """One program; weights as `fused_blocks` has them."""

    Options = FusedLayerOptions

    def __init__(self, env: LayerEnv, options: FusedLayerOptions) -> None:
        super().__init__(env, NoOptions())
        if not 1 <= options.layers_per_program <= MOST_LAYERS:
            raise UsageError(f"layers_per_program is {options.layers_per_program}; it must lie in 1..{MOST_LAYERS}")
        self.layers_per_call = options.layers_per_program
        self.stream_slot = 1 << (self.slot - 1).bit_length()  # a size that others' memory is a multiple of
        self.plans: dict[int, Plan] = {env.context.Smax: plan_layer(self, env.context.Smax)}  # by rows of the cache
        self.feeder_places = [self._place(core) for core in self._feeders(FEEDERS)]
        self.x_places = [self._place(core) for core in self.qkv_plan.leaders]
        self.layer_programs: dict[tuple[int, int], Program] = {}  # by rows of the cache, layers

    def plan(self) -> list[str]:
        """Cores, shares and L1, for the context's cache."""
        qkv, wo, split = self.qkv_plan, self.wo, self.plans[self.env.context.Smax]
        cores = qkv.cores
        sizes = sorted({len(group.workers) for group in wo.groups})
        return [
            f"qkv: {len(qkv.shares)} cores, {qkv.parts} a head, of {self.columns} columns; x from {qkv.leaders[0]} and "
            f"{qkv.leaders[1]} to {cores.width} x {cores.height} cores",
            f"linears: {len(wo.groups)} groups, one a DRAM bank, of {' or '.join(map(str, sizes))} cores; a group has "
            f"{wo.width} columns of o and {self.w2.width} of the MLP at most",
            *split.lines(),
        ]

    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        return self.layers_fn(i, x, [(k_cache, v_cache)])

    def layers_fn(self, first: int, x: Any, caches: Sequence[tuple[Any, Any]]) -> Any:
        ttnn, context, n, Smax = self.env.ttnn, self.env.context, len(caches), caches[0][0].shape[2]
        weights = [self.weights[first + i] for i in range(n)]
        out = empty_tile_tensor(ttnn, self.env.device, x.shape)
        tables = [context.cos, context.sin, weights[0]["scalers"]]
        reads = [(w["wqkv"], *kv, w["rest"]) for w, kv in zip(weights, caches, strict=True)]
        writes = [(w["q_norm"], w["k_norm"], *kv) for w, kv in zip(weights, caches, strict=True)]
        if (Smax, n) not in self.layer_programs:
            if Smax not in self.plans:
                self.plans[Smax] = plan_layer(self, Smax)
            gamma = weights[0]["q_norm"]
            self.layer_programs[Smax, n] = self._build_layer(self.plans[Smax], x, caches[0][0], gamma, n)
        rows, at = Smax // TILE, _addresses
        return self.layer_programs[Smax, n].launch(
            [x, context.valid_rows, *tables, *chain(*reads), *chain(*writes), out],
            [*at(x, context.valid_rows), rows, *at(*chain(*reads))],
            [*at(x, *tables), rows, *at(out), *self.feeder_places, *self.x_places, *at(*chain(*writes))],
        )

    def _build_layer(self, plan: Plan, x: Any, cache: Any, gamma: Any, layers: int) -> Program:
        ttnn, s, wo, w2 = self.env.ttnn, self.env.shape, self.wo, self.w2
        split, roles, qkv, context = plan.split, plan.roles, self.qkv_plan, self.env.context
        rows, hidden, banks = s.tokens // TILE, s.hidden // TILE, self.env.device.dram_grid_size().x
        R, D, B, W = split.rows, split.head_tiles, split.block, split.workers

        feed = [split.feed_slot, plan.slots(FEED, split.feed_slot)]
        mapping = [split.units, split.units_a_head, split.feeders, banks, *feed]
        blocks = [wo.unit, wo.block, hidden, self.gate_up_block, w2.block, self.stream_slot]
        slots = [plan.slots(WEIGHTS, self.stream_slot), plan.slots(WO_WEIGHTS, wo.unit * wo.block)]
        qkv_slots = plan.slots(QKV_WEIGHTS, SLOT_ROWS * self.columns)
        reader, compute, writer = self._qkv_compile_time(qkv_slots, x, context.cos, gamma, cache)
        reader += [R, D, B, W, rows, *mapping, len(qkv.cores.cores), *blocks, *slots]
        done, turns = len(roles.feeders) + len(roles.workers), [layers, *plan.rewound]
        reader += [layers, done, *plan.rewound, *accessor_args(ttnn, cache, cache, context.valid_rows)]
        compute += [R, D, B, W, *split.owned, scale_bits(s), *blocks, wo.parts, *turns]
        writer += [s.group, R, D, W, *split.owned, *mapping, wo.unit, len(wo.groups), wo.parts, hidden]
        writer += [layers, done, *plan.rewound]
        args = self._runtime_args(plan)

        def team(files: str, cores: list[Core]) -> Team:
            own = [{core: args[core][i] for core in cores} for i in range(3)]
            kernels = Kernel(reader, own[0]), Kernel(compute, own[1]), Kernel(writer, own[2])
            return Team(_each(cores), [], *kernels, fidelity="HiFi2", full_sync=wo.rows > 2, files=files)

        grid = Rectangle(0, 0, self.grid.x, self.grid.y)
        first, last, others = self._noc(grid.cores[0]), self._noc(grid.last), len(grid.cores)
        row = {core: [r] for r, core in enumerate(roles.leaders)}
        leaders = Team(
            _each(roles.leaders),
            [],
            Kernel([rows, hidden, *first, *last, others, *turns], row),
            Kernel([rows, hidden, fp32_bits(1 / s.hidden), fp32_bits(s.rms_eps), *turns], row),
            Kernel([rows, hidden, *last, *first, others, *turns], row),
            files="leader_",
        )
        teams = [leaders, team("feeder_", list(roles.feeders)), team("", roles.workers)]
        return Program(ttnn, "fused_layer", teams, semaphores=16, reach=[grid], everywhere=plan.memory)

    def _runtime_args(self, plan: Plan) -> dict[Core, tuple[list[int], list[int], list[int]]]:
        """Of reader, compute and writer, for workers and feeders."""
        s, qkv, split, roles, place = self.env.shape, self.qkv_plan, plan.split, plan.roles, self._place
        W = split.workers
        x_cores, qkv_args = qkv.cores.cores, self._qkv_runtime((*roles.feeders, *roles.workers))
        rest = self._rest_args(plan)
        args = {}
        for core, (reader, compute, writer) in qkv_args.items():
            share, here = qkv.share(core), int(core in x_cores)
            reader_rest, compute_rest, writer_rest, owned = rest.get(core, ([0] * 8, [0] * 6, [0], range(0)))
            reader = [*reader, *(place(f) for f, (bank, _) in roles.feeders.items() if bank == share.bank)]
            reader += [here, *reader_rest]
            compute = [*compute, *compute_rest]
            writer = [*writer, owned.start, len(owned), here]
            for head in (head for head in share.heads if head < s.n_heads):
                unit = head // s.group * split.units_a_head
                writer += map(place, roles.attending[unit * W : (unit + split.units_a_head) * W])
            if core in roles.feeders:
                bank, feeder = roles.feeders[core]
                after = [place(w.core) for group in self.wo.groups if group.bank == bank for w in group.workers]
                reader += [bank, feeder, sum(other.bank == bank for other in qkv.shares), len(after), *after]
                writer += [bank, feeder, *map(place, roles.attending)]
            elif core in roles.attending:
                unit, worker = divmod(roles.attending.index(core), W)
                merged = split.owned_rows(worker)
                reader += [1, unit, worker]
                compute += [1, merged]
                writer += [1, worker, *map(place, roles.attending[unit * W : (unit + 1) * W])]
                writer += [merged, *self._receivers(plan, unit, worker)]
            else:
                reader, compute, writer = [*reader, 0, 0, 0], [*compute, 0, 0], [*writer, 0]
            args[core] = [*reader, *self._between_layers(core)], compute, [*writer, *writer_rest]
        return args

    def _between_layers(self, core: Core) -> list[int]:
        """For the reader: who asks for the last weights of the bank before wqkv is read from it."""
        shares, workers = self.qkv_plan.shares, [(g.bank, w.core) for g in self.wo.groups for w in g.workers]
        of_wqkv = [share.bank for share in shares if share.core == core]
        own = [bank for bank, worker in workers if worker == core]
        readers = [self._place(share.core) for share in shares if share.bank in own]
        return [sum(bank in of_wqkv for bank, _ in workers), len(readers), *readers]

    def _rest_args(self, plan: Plan) -> dict[Core, tuple[list[int], list[int], list[int], range]]:
        """Of what follows the attention, for reader, compute and writer; and the owned columns."""
        wo = self.wo
        (reader, compute), first_args, second_args = self._rest_runtime(), wo.movement_args(), self.w2.movement_args()
        leaders = [wo.packed(core) for core in plan.roles.leaders]
        chunks = -(-wo.n // -(-wo.n // CHUNKS))
        args = {}
        for worker in wo.workers:
            core = worker.core
            # The semaphore counts chunks of x of NoC 0 before.
            rows_read = plan.split.feeders + (-(-chunks // 2) if core in self.qkv_plan.cores.cores else 0)
            args[core] = (
                [1, *reader[core], rows_read],
                [1, *compute[core]],
                [1, *first_args[core], *second_args[core], *leaders],
                worker.owned,
            )
        return args

    def _receivers(self, plan: Plan, unit: int, worker: int) -> list[int]:
        """For each tile of the attention's output that a worker owns: its place in WO.in, and the cores."""
        split, (r, c) = plan.split, plan.split.owned
        rows, d = self.env.shape.tokens // TILE, split.head_tiles
        first_row, first_column = worker // (d // c) * r, worker % (d // c) * c
        args = []
        for i in range(split.owned_rows(worker)):
            head, row = divmod(unit * split.rows + first_row + i, rows)
            for column in range(head * d + first_column, head * d + first_column + c):
                group = next(group for group in self.wo.groups if column in group.columns)
                to = row * len(group.columns) + group.columns.index(column)
                args += [to, len(group.workers), *(self.wo.packed(w.core) for w in group.workers)]
        return args


def _addresses(*tensors: Any) -> list[int]:
    return [tensor.buffer_address() for tensor in tensors]


def _each(cores: list[Core]) -> list[Rectangle]:
    return [Rectangle(*core, 1, 1) for core in cores]
