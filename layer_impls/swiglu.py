"""The op graph with the MLP in one kernel.

Replaces     w1 + silu, w3, mul, w2, add: 19 ops become 15
"""

from __future__ import annotations

from typing import Any

import torch

from harness.dtypes import TILE_BYTES
from harness.implementation import LayerEnv
from harness.shape import TILE
from harness.weights import LayerWeights
from layer_impls._program import Cb, Core, Kernel, Program, Rectangle, accessor_args, buffers, empty_tile_tensor
from layer_impls._split_linear import split_linear
from layer_impls._weights import block_rows, tiles_of, to_banks
from layer_impls.op_graph import OpGraph, OpGraphOptions

IDLE, WORKER, LEADER = range(3)  # kernels/swiglu/role.h


class Swiglu(OpGraph):
    """x1 + (silu(h2 w1) * (h2 w3)) w2 in one program, with the three weights in bank order."""

    def __init__(self, env: LayerEnv, options: OpGraphOptions) -> None:
        super().__init__(env, options)
        s = env.shape
        hidden = s.hidden // TILE
        self.mlp = split_linear(env.ttnn, env.device, s.tokens, s.inter, s.hidden, env.weight_dtype, 2 * hidden)
        self.mlp_program: Program | None = None

    def prepare(self, i: int, weights: LayerWeights) -> None:
        super().prepare(i, weights)
        split, w = self.mlp, self.weights[i]
        w1, w3, w2 = (tiles_of(t) for t in (weights.w1, weights.w3, weights.w2))
        gate_up = torch.stack((w1, w3), 2)  # [hidden, inter, 2] tiles
        banks = [torch.empty(0, TILE, TILE, dtype=weights.w1.dtype)] * self.env.device.dram_grid_size().x
        for group in split.groups:
            down = w2[group.columns.start : group.columns.stop]
            shares = []
            for worker in group.workers:
                shares += [gate_up[:, group.columns[c]] for c in worker.own]
                shares += [down[:, u * split.unit : (u + 1) * split.unit] for u in worker.units]
            banks[group.bank] = torch.cat([share.reshape(-1, TILE, TILE) for share in shares])
        for name in ("w1", "w3", "w2"):
            self.env.ttnn.deallocate(w.pop(name))
        w["mlp"] = to_banks(self.env.ttnn, self.env.device, banks, self.env.weight_dtype)

    def _mlp(self, i: int, x1: Any, h2: Any) -> Any:
        w = self.weights[i]["mlp"]
        x2 = empty_tile_tensor(self.env.ttnn, self.env.device, x1.shape)
        if self.mlp_program is None:
            self.mlp_program = self._build_mlp(x1)
        movement = [t.buffer_address() for t in (h2, x1, x2)]
        self.mlp_program.launch([h2, x1, w, x2], [w.buffer_address(), h2.buffer_address()], movement)
        self.env.ttnn.deallocate(h2)
        return x2

    def _build_mlp(self, x1: Any) -> Program:
        ttnn, split, grid = self.env.ttnn, self.mlp, self.grid
        hidden = split.n
        block = block_rows(hidden, 2, split.dtype)
        slot = max(2 * block, split.unit * split.block)
        slots = 50
        cbs = [*split.cbs(), *buffers("bf16", {6: split.rows * hidden}), Cb(0, split.dtype, slots * slot)]
        everywhere = Rectangle(0, 0, grid.x, grid.y)
        reader: dict[Core, list[int]] = {core: [IDLE] for core in everywhere.cores}
        writer = dict(reader)
        compute = {core: [0, 0, 0, 0] for core in everywhere.cores}
        for group in split.groups:
            offset, width = 0, len(group.columns)
            for w in group.workers:
                reader[w.core] = [WORKER, group.bank, offset * TILE_BYTES[split.dtype], len(w.own), width, len(w.units)]
                compute[w.core] = [len(w.own), width, len(w.units), len(w.owned)]
                offset += 2 * hidden * len(w.own) + split.unit * width * len(w.units)
        writer |= {core: [WORKER, *args] for core, args in split.movement_args(self._noc).items()}
        leader = next(core for core in everywhere.cores if reader[core] == [IDLE])
        reader[leader] = writer[leader] = [LEADER]
        first, last, size = self._noc((0, 0)), self._noc(everywhere.last), grid.x * grid.y
        shape = [hidden, block, split.unit, split.block]
        return Program(
            ttnn,
            "swiglu",
            [everywhere],
            cbs,
            Kernel([split.rows * hidden // 1, *shape, slot, slots, *first, *last, size, *accessor_args(ttnn, x1)], reader),
            Kernel([split.rows, *shape, slot, split.parts], compute),
            Kernel(
                [split.rows, hidden, len(split.groups), split.parts, *last, *first, size, *accessor_args(ttnn, x1)],
                writer,
            ),
            semaphores=4,
            fidelity="HiFi2",
            full_sync=2 * split.rows > 4,
        )

    def _noc(self, core: Core) -> tuple[int, int]:
        noc = self.env.device.worker_core_from_logical_core(self.env.ttnn.CoreCoord(*core))
        return noc.x, noc.y
