"""The op graph with everything from x to the queries and the own cache rows in one program.

Replaces     rms_norm, wqkv, create_qkv_heads, q_norm, k_norm, rope q, rope k, fill K, fill V: 19 ops become 11
Core map     a core a head and slice of K; as many slices as tile rows where cores allow: 32 heads x 2 slices at the real
             shape. A core's share of wqkv streams from one DRAM bank, next to which it sits where there is room. The
             cores of a head exchange partial rows; each finishes its tile rows (modulo slices). Two cores, idle ones if
             there are any, read x and multicast it to the whole grid, one on each NoC
us a call    TODO (predicted, not measured)
Weights      wqkv by core (layer_impls/_weights.py), with gamma of the input norm multiplied in; 1 / rms is applied to
             the product
Limits       x lies whole in the L1 of each core: 64 tokens x 14,000 hidden, 128 x 7,000

CBs of a core, for heads of d tiles, R tile rows, r of them its own, K tiles of x (indices in kernels/qkv_heads/cbs.h)
    0  x                bf16         K R            7  cos * gamma        fp32  d r
    1  wqkv             as stored    the share, or  8  sin * gamma        fp32  d r
                                     what fits      9  sum of squares     fp32  1
    2  cos, sin, gammas bf16         (2 R + 2) d   10  factor, column     fp32  1
    3  scalers          bf16         2             11  head, rotated      fp32  d
    4  parts to send    fp32  (R - r) (d + 1)      16  q                  bf16  2 d
    5  own rows         fp32  r (d + 1)            17  K or V             as the caches  2 d
    6  parts received   fp32  r (slices - 1) (d + 1)
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import torch

from harness.dtypes import TILE_BYTES
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
    accessor_args,
    buffers,
    empty_tile_tensor,
    fp32_bits,
)
from layer_impls._weights import bank_cores, deal, tiles_of, to_banks
from layer_impls.op_graph import OpGraph, OpGraphOptions

LEAST_SLOTS = 5  # of streamed weights: one more than reads in flight (kernels/shared/stream.h)
CHUNKS = 8  # of x, as it is multicast


@dataclass(frozen=True)
class Share:
    """What a core works on: query, key and value heads as wqkv has them, and of K a slice of blocks; from which bank."""

    core: Core
    bank: int
    heads: range
    slice: int
    blocks: range


@dataclass(frozen=True)
class Plan:
    """Shares by bank; K is cut into `slices` of blocks of `block` tiles. leaders: for NoC 0 and NoC 1."""

    slices: int
    block: int
    shares: tuple[Share, ...]
    leaders: tuple[Core, Core]


def plan(ttnn: Any, device: Any, shape: LayerShape) -> Plan:
    """As many slices of K as tile rows, so that each core of a head finishes a row, if there are cores for that."""
    grid = device.compute_with_storage_grid_size()
    cores = [(x, y) for y in range(grid.y) for x in range(grid.x)]
    heads, k_tiles = shape.n_heads + 2 * shape.n_kv_heads, shape.hidden // TILE
    block = 2 if k_tiles % 2 == 0 else 1
    slices = max(1, min(len(cores) // heads, shape.tokens // TILE, k_tiles // block))
    per_core = -(-heads // len(cores))
    work = [
        (range(head, min(head + per_core, heads)), s, blocks)
        for head in range(0, heads, per_core)
        for s, blocks in enumerate(deal(k_tiles // block, slices))
    ]
    near = bank_cores(ttnn, device)
    parts = deal(len(work), len(near))
    taken = {core for part, own in zip(parts, near, strict=True) for core in own[: len(part)]}
    others = [core for core in cores if core not in taken]
    shares = []
    for bank, part in enumerate(parts):
        for i, unit in enumerate(part):
            core = near[bank][i] if i < len(near[bank]) else others.pop(0)
            shares.append(Share(core, bank, *work[unit]))
    leaders = (others or cores)[-1], (others[:-1] or cores)[-1]
    return Plan(slices, block, tuple(shares), leaders)


def two_bf16(value: float) -> int:
    """A word of two equal bf16."""
    high: int = struct.unpack("<I", struct.pack("<f", torch.tensor(value).bfloat16().item()))[0] >> 16
    return high << 16 | high


class QkvHeads(OpGraph):
    """x -> queries and own cache rows, in one program."""

    def __init__(self, env: LayerEnv, options: OpGraphOptions) -> None:
        super().__init__(env, options)
        s = env.shape
        self.qkv_plan = plan(env.ttnn, env.device, s)
        self.slot = self.qkv_plan.block * (s.head_dim // TILE)
        rest = CB_BUDGET - sum(cb.bytes for cb in self._qkv_cbs(0))
        fit = rest // (self.slot * TILE_BYTES[env.weight_dtype])
        most = max(len(share.heads) * len(share.blocks) for share in self.qkv_plan.shares)
        self.slots = min(fit, max(most, LEAST_SLOTS))
        if self.slots < LEAST_SLOTS:
            raise UsageError(
                f"hidden {s.hidden} at {s.tokens} tokens: x and what else a core of qkv_heads holds take "
                f"{CB_BUDGET - rest} B of its L1, {CB_BUDGET} with room for weights is the most"
            )
        self.qkv_program: Program | None = None

    def prepare(self, i: int, weights: LayerWeights) -> None:
        super().prepare(i, weights)
        folded = weights.wqkv.float() * weights.norm1.float()[:, None]
        tiles, d, block = tiles_of(folded), self.env.shape.head_dim // TILE, self.qkv_plan.block
        banks: list[list[torch.Tensor]] = [[] for _ in range(self.env.device.dram_grid_size().x)]
        for share in self.qkv_plan.shares:
            rows = tiles[share.blocks.start * block : share.blocks.stop * block]
            banks[share.bank] += [rows[:, head * d : (head + 1) * d].reshape(-1, TILE, TILE) for head in share.heads]
        self.env.ttnn.deallocate(self.weights[i]["wqkv"])
        stacked = [torch.cat(bank) if bank else tiles[:0, 0] for bank in banks]
        self.weights[i]["wqkv"] = to_banks(self.env.ttnn, self.env.device, stacked, self.env.weight_dtype)

    def _queries(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        ttnn, s, w, context = self.env.ttnn, self.env.shape, self.weights[i], self.env.context
        q = empty_tile_tensor(ttnn, self.env.device, (1, s.n_heads, s.tokens, s.head_dim))
        reads = [x, context.cos, context.sin, w["q_norm"], w["k_norm"]]
        if self.qkv_program is None:
            self.qkv_program = self._build_qkv(x, context.cos, w["q_norm"], q, k_cache)
        addresses = [t.buffer_address() for t in (*reads, q, k_cache, v_cache)]
        return self.qkv_program.launch(
            [*reads, w["wqkv"], k_cache, v_cache, q],
            [x.buffer_address(), w["wqkv"].buffer_address()],
            [*addresses, k_cache.shape[2] // TILE],
        )

    def _qkv_cbs(self, slots: int) -> list[Cb]:
        s, slices = self.env.shape, self.qkv_plan.slices
        d, rows = s.head_dim // TILE, s.tokens // TILE
        own = -(-rows // slices)
        cbs = [
            *buffers("bf16", {0: s.hidden // TILE * rows, 2: (2 * rows + 2) * d, 3: 2, 16: 2 * d}),
            *buffers(self.env.weight_dtype, {1: slots * self.slot}),
            *buffers("fp32", {4: (rows - rows // slices) * (d + 1), 5: own * (d + 1), 6: own * (slices - 1) * (d + 1)}),
            *buffers("fp32", {7: own * d, 8: own * d, 9: 1, 10: 1, 11: d}),
            *buffers(self.env.cache_dtype, {17: 2 * d}),
        ]
        return [cb for cb in cbs if cb.tiles]

    def _build_qkv(self, x: Any, table: Any, gamma: Any, q: Any, cache: Any) -> Program:
        ttnn, s, p = self.env.ttnn, self.env.shape, self.qkv_plan
        d, rows, k_tiles = s.head_dim // TILE, s.tokens // TILE, s.hidden // TILE
        grid = Rectangle(0, 0, self.grid.x, self.grid.y)
        first, last = self._noc(grid.cores[0]), self._noc(grid.last)
        leads = {  # the rectangle in the direction of each NoC
            p.leaders[0]: [*first, *last, len(grid.cores) - 1],
        }
        leads_back = {p.leaders[1]: [*last, *first, len(grid.cores) - 1]}
        reader, compute, writer = {}, {}, {}
        offsets = [0] * self.env.device.dram_grid_size().x
        for core in grid.cores:
            reader[core] = [0, 0, 0, int(core in leads), *leads.get(core, [])]
            writer[core] = [0, 0, 0, 0, 0, int(core in leads_back), *leads_back.get(core, [])]
            compute[core] = [0, 0, 0, 0, 0]
        peers = {(share.heads.start, share.slice): self._noc(share.core) for share in p.shares}
        for share in p.shares:
            core, slots = share.core, len(share.heads) * len(share.blocks)
            reader[core][:3] = [share.bank, offsets[share.bank], slots]
            offsets[share.bank] += slots * self.slot * TILE_BYTES[self.env.weight_dtype]
            work = [share.heads.start, len(share.heads), share.slice, share.blocks.start, len(share.blocks)]
            compute[core] = work
            writer[core] = [*work, *writer[core][5:], *[0] * (11 - len(writer[core]))]
            writer[core] += [n for s in range(p.slices) for n in peers[share.heads.start, s]]
        heads = [s.n_heads, s.n_kv_heads, d, rows, p.slices, p.block]
        scales = [1 / s.head_dim, s.rms_eps**2, 1 / s.hidden, s.rms_eps]
        chunk = -(-k_tiles // CHUNKS)
        x_squares = two_bf16(s.rms_eps * s.head_dim / s.hidden)
        return Program(
            ttnn,
            "qkv_heads",
            [grid],
            self._qkv_cbs(self.slots),
            Kernel([k_tiles, rows, chunk, self.slot, self.slots, *accessor_args(ttnn, x)], reader),
            Kernel([*heads, *map(fp32_bits, scales)], compute),
            Kernel([*heads, k_tiles, chunk, x_squares, *accessor_args(ttnn, x, table, gamma, q, cache)], writer),
            semaphores=4,
        )

    def _noc(self, core: Core) -> tuple[int, int]:
        """NoC coordinates of a worker core."""
        noc = self.env.device.worker_core_from_logical_core(self.env.ttnn.CoreCoord(*core))
        return noc.x, noc.y
