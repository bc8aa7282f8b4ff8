"""The op graph with the output projection of the attention and the residual add in one kernel.

Replaces     wo, add: 19 ops become 18
Core map     a group of cores next to each DRAM bank: 8 banks, K split over them, N over the 5 to 8 cores of a group
             (59 at the real shape); see _split_linear.py
us a call    TODO
Limits       TODO
"""

from __future__ import annotations

from typing import Any

import torch

from harness.errors import UsageError
from harness.implementation import LayerEnv
from harness.shape import TILE
from harness.weights import LayerWeights
from layer_impls._program import CB_BUDGET, Cb, Core, Kernel, Program, Rectangle, accessor_args, empty_tile_tensor
from layer_impls._split_linear import split_linear
from layer_impls._weights import tiles_of, to_banks
from layer_impls.op_graph import OpGraph, OpGraphOptions

STREAM_DEPTH = 4  # reads in flight, kernels/shared/stream.h


class LinearResidual(OpGraph):
    """x + o wo in one program, with wo in bank order."""

    def __init__(self, env: LayerEnv, options: OpGraphOptions) -> None:
        super().__init__(env, options)
        s = env.shape
        self.out_split = split_linear(env.ttnn, env.device, s.tokens, s.q_dim, s.hidden, env.weight_dtype)
        self.out_program: Program | None = None

    def prepare(self, i: int, weights: LayerWeights) -> None:
        super().prepare(i, weights)
        split, tiles = self.out_split, tiles_of(weights.wo)
        banks = []
        for group in split.groups:
            rows = tiles[group.columns.start : group.columns.stop]
            units = [rows[:, u * split.unit : (u + 1) * split.unit] for w in group.workers for u in w.units]
            banks.append(torch.cat([unit.reshape(-1, TILE, TILE) for unit in units]))
        self.env.ttnn.deallocate(self.weights[i]["wo"])
        n_banks = self.env.device.dram_grid_size().x
        banks += [banks[0][:0]] * (n_banks - len(banks))
        self.weights[i]["wo"] = to_banks(self.env.ttnn, self.env.device, banks, self.env.weight_dtype)

    def _after_attention(self, i: int, x: Any, o: Any) -> tuple[Any, Any]:
        x1 = self._out_projection(i, x, o)
        return x1, self._norm(x1, self.weights[i]["norm2"])

    def _out_projection(self, i: int, x: Any, o: Any) -> Any:
        w = self.weights[i]["wo"]
        x1 = empty_tile_tensor(self.env.ttnn, self.env.device, x.shape)
        if self.out_program is None:
            self.out_program = self._build_out(o, x)
        movement = [t.buffer_address() for t in (o, x, x1)]
        return self.out_program.launch([o, x, w, x1], [w.buffer_address()], movement)

    def _build_out(self, o: Any, x: Any) -> Program:
        ttnn, split = self.env.ttnn, self.out_split
        slot = split.block * split.unit
        slots = 16
        cbs = [*split.cbs(), Cb(0, split.dtype, slots * slot)]
        reader, compute = {}, {}
        rectangles = []
        for group in split.groups:
            offset, width = 0, len(group.columns)
            for w in group.workers:
                reader[w.core] = [group.bank, offset, width, len(w.units)]
                compute[w.core] = [width, len(w.units), len(w.owned)]
                offset += len(w.units) * split.unit * width * (1088 if split.dtype == "bfp8" else 2048)
            rectangles.append(Rectangle(*group.workers[0].core, len(group.workers), 1))

        def noc(core: Core) -> tuple[int, int]:
            n = self.env.device.worker_core_from_logical_core(ttnn.CoreCoord(*core))
            return n.x, n.y

        return Program(
            ttnn,
            "linear_residual",
            rectangles,
            cbs,
            Kernel([split.unit, split.block, slots], reader),
            Kernel([split.rows, split.unit, split.block, split.parts], compute),
            Kernel(
                [split.rows, len(split.groups), split.parts, split.k, split.n, *accessor_args(ttnn, o, x)],
                split.movement_args(noc),
            ),
            semaphores=2,
            fidelity="HiFi2",
        )
