"""The op graph with the second norm and the MLP in one kernel.

Replaces     rms_norm (second), w1 + silu, w3, mul, w2, add: 19 ops become 14
"""

from __future__ import annotations

from typing import Any

import torch

from harness.dtypes import TILE_BYTES
from harness.implementation import LayerEnv
from harness.shape import TILE
from harness.weights import LayerWeights
from layer_impls._program import (
    Core,
    Kernel,
    Leaders,
    Program,
    Rectangle,
    accessor_args,
    buffers,
    empty_tile_tensor,
    fp32_bits,
)
from layer_impls._split_linear import SplitLinear
from layer_impls._weights import block_rows, tiles_of
from layer_impls.op_graph import OpGraph, OpGraphOptions


class Swiglu(OpGraph):
    """x1 + (silu(h w1) * (h w3)) w2 with h the norm of x1, in one program, with the three weights in bank order."""

    def __init__(self, env: LayerEnv, options: OpGraphOptions) -> None:
        super().__init__(env, options)
        s, hidden = env.shape, env.shape.hidden // TILE
        self.mlp = SplitLinear(env.ttnn, env.device, s.tokens, s.inter, s.hidden, env.weight_dtype, 2 * hidden)
        self.mlp_block = block_rows(hidden, 2, env.weight_dtype)
        self.mlp_slot = max(2 * self.mlp_block, self.mlp.unit * self.mlp.block)
        self.norm_cb = buffers("bf16", {6: self.mlp.rows * hidden})
        what = f"an MLP of {s.hidden} x {s.inter} at {s.tokens} tokens"
        self.mlp_cbs = self.mlp.cbs(what, self.mlp_slot, -(-hidden // self.mlp_block), self.norm_cb)
        self.mlp_program: Program | None = None

    def _plain_weights(self) -> list[str]:
        return [name for name in super()._plain_weights() if name not in ("norm2", "w1", "w3", "w2")]

    def prepare(self, i: int, weights: LayerWeights) -> None:
        super().prepare(i, weights)
        gamma = weights.norm2.float()[:, None]
        columns = torch.stack([tiles_of(t.float() * gamma) for t in (weights.w1, weights.w3)], 2)
        self.weights[i]["mlp"] = self.mlp.weights(weights.w2.float(), columns.transpose(0, 1))

    def _mlp_norm(self, i: int, x1: Any) -> Any:
        return None  # a part of the program

    def _mlp(self, i: int, x1: Any, h2: Any) -> Any:
        w = self.weights[i]["mlp"]
        x2 = empty_tile_tensor(self.env.ttnn, self.env.device, x1.shape)
        if self.mlp_program is None:
            self.mlp_program = self._build_mlp(x1)
        at = x1.buffer_address()
        return self.mlp_program.launch([x1, w, x2], [w.buffer_address(), at], [at, x2.buffer_address()])

    def _build_mlp(self, x1: Any) -> Program:
        ttnn, s, split, hidden = self.env.ttnn, self.env.shape, self.mlp, self.mlp.n
        accessor = accessor_args(ttnn, x1)
        reader, compute = {}, {}
        for group in split.groups:
            width = len(group.columns)
            for w in group.workers:
                offset = w.first_tile * TILE_BYTES[split.dtype]
                reader[w.core] = [group.bank, offset, len(w.own), width, len(w.units)]
                compute[w.core] = [len(w.own), width, len(w.units), len(w.owned)]
        grid = Rectangle(0, 0, self.grid.x, self.grid.y)
        leaders = [core for core in grid.cores if core not in reader][: split.rows]
        row: dict[Core, list[int]] = {core: [r] for r, core in enumerate(leaders)}
        corners = [*self._noc(grid.last), *self._noc(grid.cores[0]), len(grid.cores)]
        shape = [hidden, self.mlp_block, split.unit, split.block, self.mlp_slot]
        slots = self.mlp_cbs[-1].tiles // self.mlp_slot
        return Program(
            ttnn,
            "swiglu",
            [group.rectangle for group in split.groups],
            self.mlp_cbs,
            Kernel([*shape, slots], reader),
            Kernel([split.rows, *shape, split.parts], compute),
            Kernel([split.rows, hidden, split.unit, len(split.groups), split.parts, *accessor], split.movement_args()),
            semaphores=2 + split.rows,
            fidelity="HiFi2",
            full_sync=split.rows > 2,  # DEST holds two columns
            leaders=Leaders(
                [Rectangle(*core, 1, 1) for core in leaders],
                [*buffers("bf16", {8: hidden, 9: 1, 12: hidden}), *buffers("fp32", {10: 1, 11: 1})],
                Kernel([hidden, *accessor], row),
                Kernel([hidden, fp32_bits(1 / s.hidden), fp32_bits(s.rms_eps)]),
                Kernel([hidden, *corners], row),
            ),
            reach=[grid],
            everywhere=self.norm_cb,
        )

    def _noc(self, core: Core) -> tuple[int, int]:
        """NoC coordinates of a worker core."""
        noc = self.env.device.worker_core_from_logical_core(self.env.ttnn.CoreCoord(*core))
        return noc.x, noc.y
