"""The op graph with everything from x to the queries and the own cache rows in one program.

Replaces     rms_norm, wqkv, create_qkv_heads, q_norm, k_norm, rope q, rope k, fill K, fill V: 19 ops become 11
Core map     two cores a head of 128, each with half of its columns, of both rotary halves alike: 64 at the real shape.
             A head of 64 has one core, and where cores are short, any head. A core's columns of wqkv stream from one
             DRAM bank, next to which it sits where there is room. The two cores of a head exchange sums of squares. Two
             cores, idle ones if there are any, read x and multicast it to all others, one on each NoC
us a call    20.0 predicted by the emulator (bf16 weights: 31.5), not measured on silicon: launch 2.6, stream 14.1 at
             479 GB/s, and 3.2 after its last tile, of which the writes of q, K and V, all at once, are 1.0
Weights      wqkv by core (layer_impls/_weights.py), with gamma of the input norm multiplied in; 1 / rms is applied to
             the product. Padded only where banks get unequal numbers of cores
Limits       x lies whole in the L1 of each core: about 9,000 hidden at 64 tokens, 4,500 at 128

CBs of a core, for n of the d tiles of a head, R tile rows, K tiles of x (indices in kernels/qkv_heads/cbs.h)
    0  x                bf16  K R            6  squares of x     bf16  R      12  sums received  fp32  R
    1  wqkv, the columns or what fits        7  cos * gamma      bf16  n R    13  factors        fp32  2
                        as stored            8  sin * gamma      bf16  n R    14  z, rotated     bf16  2 n
    2  cos, sin, gamma, scalers of sums      9  squares of z     bf16  2      16  q              bf16  2 n
                        bf16  (2 R + 2) d + 3
    4  partial z        fp32  n R           10  sums             fp32  2      17  K or V         as the caches  2 n
    5  z                bf16  n R           11  sums to send     fp32  2

Versions, predicted us at the real shape, 11x10, bfp8 weights
    27.9   K of a head cut over two cores, partial products exchanged and added
    22.6   tables read together with x, not after it, where the stream has taken the banks; 2 reads in flight, not 4
    20.9   columns of a head cut instead of K: nothing but sums of squares to exchange; HiFi3 instead of HiFi4, whose
           last phase is below a bf16 activation's last bit
    20.3   z and its tables in bf16; epsilon and 1 / hidden applied to the squares of x while weights stream
    20.1   the program on 7 columns of the grid, 70 cores
    19.9   squares in bf16; those of x summed while those of z are on their way
    dropped: slots of 1, 3 or 4 K tiles (+0.1, 0, +0.2); 8 columns of the grid or more (0 to +0.2)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch

from harness.dtypes import TILE_BYTES, to_device
from harness.errors import UsageError
from harness.implementation import LayerEnv
from harness.shape import TILE, LayerShape
from harness.weights import LayerWeights
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
from layer_impls._weights import bank_cores, deal, tiles_of, to_banks
from layer_impls.op_graph import OpGraph, OpGraphOptions

LEAST_SLOTS = 3  # of streamed weights: one more than reads in flight (kernels/qkv_heads/reader.cpp)
SLOT_ROWS = 2  # K tiles of a slot
CHUNKS = 8  # of x, as it is multicast


@dataclass(frozen=True)
class Share:
    """What a core works on: heads as wqkv has them, and which part of their columns; from which bank, where shares lie
    one after another; and its partner, the core with the other part."""

    core: Core
    bank: int
    heads_before: int
    heads: range
    part: int
    partner: Core


@dataclass(frozen=True)
class Plan:
    """parts: cores of a head. cores: all of the program. leaders: those that multicast, on NoC 0 and on NoC 1."""

    parts: int
    cores: Rectangle
    shares: tuple[Share, ...]
    leaders: tuple[Core, Core]

    def share(self, core: Core) -> Share:
        """What it works on; no heads unless it has some."""
        return next((share for share in self.shares if share.core == core), Share(core, 0, 0, range(0), 0, core))


def plan(ttnn: Any, device: Any, shape: LayerShape) -> Plan:
    """Two cores a head if it has two pairs of tiles and there are enough, else one core a head, or for several.

    The cores of a head get consecutive places of one bank, or of two where a bank has an odd number.
    """
    grid = device.compute_with_storage_grid_size()
    heads = shape.n_heads + 2 * shape.n_kv_heads
    parts = 2 if shape.head_dim // TILE == 4 and 2 * heads <= grid.x * grid.y else 1
    per_core = -(-heads // (grid.x * grid.y))
    work = [
        (range(head, min(head + per_core, heads)), part) for head in range(0, heads, per_core) for part in range(parts)
    ]
    # Whole columns of the grid, as few as will do: a launch takes time for each core.
    rectangle = Rectangle(0, 0, min(grid.x, -(-(len(work) + 2) // grid.y)), grid.y)
    cores = rectangle.cores
    near = [[core for core in row if core in cores] for row in bank_cores(ttnn, device)]
    places = [(bank, i) for bank, units in enumerate(deal(len(work), len(near))) for i in range(len(units))]
    taken = {near[bank][i] for bank, i in places if i < len(near[bank])}
    others = [core for core in cores if core not in taken]
    of_unit = [near[bank][i] if i < len(near[bank]) else others.pop(0) for bank, i in places]
    shares, before = [], [0] * len(near)
    for i, (core, (bank, _), (own, part)) in enumerate(zip(of_unit, places, work, strict=True)):
        shares.append(Share(core, bank, before[bank], own, part, of_unit[i ^ 1 if parts > 1 else i]))
        before[bank] += len(own)
    # The last ones: where a bank is not near, for other blocks of a program have work there.
    idle = sorted(others if len(others) > 1 else cores, key=lambda core: all(core not in row for row in near))
    return Plan(parts, rectangle, tuple(shares), (idle[-1], idle[-2 % len(idle)]))


class QkvHeads(OpGraph):
    """x -> queries and own cache rows, in one program."""

    def __init__(self, env: LayerEnv, options: OpGraphOptions) -> None:
        super().__init__(env, options)
        s = env.shape
        self.qkv_plan = plan(env.ttnn, env.device, s)
        self.columns = s.head_dim // TILE // self.qkv_plan.parts
        slot = SLOT_ROWS * self.columns * TILE_BYTES[env.weight_dtype]
        rest = CB_BUDGET - sum(cb.bytes for cb in self._qkv_cbs(0))
        if rest < LEAST_SLOTS * slot:
            raise UsageError(
                f"hidden {s.hidden} at {s.tokens} tokens: x and what else a core of qkv_heads holds take "
                f"{CB_BUDGET - rest} B of its L1, and at most {CB_BUDGET - LEAST_SLOTS * slot} B fit"
            )
        all_slots = max(len(share.heads) for share in self.qkv_plan.shares) * -(-s.hidden // TILE // SLOT_ROWS)
        self.slots = min(rest // slot, max(all_slots, LEAST_SLOTS))
        self.qkv_program: Program | None = None

    def _plain_weights(self) -> list[str]:
        return [name for name in super()._plain_weights() if name not in ("norm1", "wqkv")]

    def prepare(self, i: int, weights: LayerWeights) -> None:
        super().prepare(i, weights)
        ttnn, device, s = self.env.ttnn, self.env.device, self.env.shape
        # kernels/qkv_heads/cbs.h says what they are good for.
        scalers = torch.cat([torch.full((1, 1, TILE, TILE), value) for value in (1 / s.head_dim, s.rms_eps, 1)], -1)
        self.weights[i]["scalers"] = to_device(ttnn, device, scalers, "bf16")
        tiles = tiles_of(weights.wqkv.float() * weights.norm1.float()[:, None])
        banks = [[tiles[:0, 0]] for _ in range(device.dram_grid_size().x)]
        for share in self.qkv_plan.shares:
            banks[share.bank] += [
                tiles[:, self._columns(head, share.part)].reshape(-1, TILE, TILE) for head in share.heads
            ]
        stacked = [torch.cat(bank) for bank in banks]
        self.weights[i]["wqkv"] = to_banks(ttnn, device, stacked, self.env.weight_dtype)

    def _columns(self, head: int, part: int) -> list[int]:
        """Of wqkv, in tiles: those of a part of a head, as kernels/shared/heads.h has them."""
        d, half = self.env.shape.head_dim // TILE, self.columns // 2
        return [head * d + side + part * half + i for side in (0, d // 2) for i in range(half)]

    def _queries(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        ttnn, s, w, context = self.env.ttnn, self.env.shape, self.weights[i], self.env.context
        q = empty_tile_tensor(ttnn, self.env.device, (1, s.n_heads, s.tokens, s.head_dim))
        reads = [x, context.cos, context.sin, w["q_norm"], w["k_norm"], w["scalers"]]
        if self.qkv_program is None:
            self.qkv_program = self._build_qkv(x, context.cos, w["q_norm"], q, k_cache)
        x_and_tables = [t.buffer_address() for t in (x, context.cos, context.sin, w["scalers"])]
        own = [t.buffer_address() for t in (w["q_norm"], w["k_norm"], k_cache, v_cache)]
        return self.qkv_program.launch(
            [*reads, w["wqkv"], k_cache, v_cache, q],
            [x.buffer_address(), w["wqkv"].buffer_address()],
            [*x_and_tables, k_cache.shape[2] // TILE, *own, q.buffer_address()],
        )

    def _qkv_cbs(self, slots: int) -> list[Cb]:
        s, n = self.env.shape, self.columns
        d, rows = s.head_dim // TILE, s.tokens // TILE
        weights = buffers(self.env.weight_dtype, {1: slots * SLOT_ROWS * n}) if slots else []
        return [
            *buffers("bf16", {0: s.hidden // TILE * rows, 2: (2 * rows + 2) * d + 3}),
            *weights,
            *buffers("bf16", {5: n * rows, 6: rows, 7: n * rows, 8: n * rows, 9: 2, 14: 2 * n, 16: 2 * n}),
            *buffers("fp32", {4: n * rows, 10: 2, 11: 2, 12: rows, 13: 2}),
            *buffers(self.env.cache_dtype, {17: 2 * n}),
        ]

    def _qkv_runtime(self, cores: Iterable[Core]) -> dict[Core, tuple[list[int], list[int], list[int]]]:
        """Runtime args of kernels/qkv_heads/{reader,compute,writer}.h on these cores, with heads or without."""
        p, k_tiles = self.qkv_plan, self.env.shape.hidden // TILE
        x_cores = p.cores.cores
        first, last, others = self._noc(x_cores[0]), self._noc(p.cores.last), len(x_cores) - 1
        # The rectangle in the direction of each NoC, and how many cores it has besides the leader.
        lead_0, lead_1, no_lead = [1, *first, *last, others], [1, *last, *first, others], [0] * 6
        head_bytes = k_tiles * self.columns * TILE_BYTES[self.env.weight_dtype]
        args = {}
        for core in cores:
            share = p.share(core)
            squared = deal(k_tiles, p.parts)[share.part]
            own = [share.heads.start, len(share.heads), share.part]
            reader = [share.bank, share.heads_before * head_bytes, len(share.heads)]
            args[core] = (
                [*reader, *(lead_0 if core == p.leaders[0] else no_lead)],
                [*own, squared.start, squared.stop],
                [*own, *self._noc(share.partner), *(lead_1 if core == p.leaders[1] else no_lead)],
            )
        return args

    def _qkv_compile_time(self, slots: int, x: Any, table: Any, gamma: Any, cache: Any) -> tuple[list[int], ...]:
        """Compile-time args of the same. slots: of the stream of wqkv."""
        ttnn, s, parts = self.env.ttnn, self.env.shape, self.qkv_plan.parts
        rows, k_tiles = s.tokens // TILE, s.hidden // TILE
        chunk = -(-k_tiles // CHUNKS)
        heads_and_rows = [s.n_heads, s.n_kv_heads, s.head_dim // TILE, rows, parts, k_tiles]
        return (
            [k_tiles, rows, chunk, SLOT_ROWS, self.columns, slots, *accessor_args(ttnn, x)],
            [*heads_and_rows, SLOT_ROWS, *map(fp32_bits, (1 / s.hidden, s.rms_eps / TILE / parts))],
            [*heads_and_rows, chunk, *accessor_args(ttnn, x, table, gamma, cache)],
        )

    def _build_qkv(self, x: Any, table: Any, gamma: Any, q: Any, cache: Any) -> Program:
        ttnn, cores = self.env.ttnn, self.qkv_plan.cores
        words, args = self._qkv_compile_time(self.slots, x, table, gamma, cache), self._qkv_runtime(cores.cores)
        words[-1].extend(accessor_args(ttnn, q))
        reader, compute, writer = (Kernel(own, {core: args[core][i] for core in args}) for i, own in enumerate(words))
        team = Team([cores], self._qkv_cbs(self.slots), reader, compute, writer, fidelity="HiFi3")
        return Program(ttnn, "qkv_heads", [team], semaphores=3)
