"""The op graph with the output projection of the attention and the residual add in one kernel.

Replaces     wo, add: 19 ops become 18
Core map     K split over the DRAM banks, N over the cores next to each: 8 groups of 5 to 8 cores at the real shape, 59
             (_split_linear.py)
us a call    TODO
Weights      wo in bank order (_weights.py), as many bytes as before
Limits       q_dim up to TODO

CBs of a core, for R tile rows and groups of W columns of activations (indices as in kernels/shared/split_cbs.h)
"""

from __future__ import annotations

from typing import Any

from harness.dtypes import TILE_BYTES
from harness.implementation import LayerEnv
from harness.weights import LayerWeights
from layer_impls._program import Kernel, Program, accessor_args, empty_tile_tensor
from layer_impls._split_linear import SplitLinear
from layer_impls.op_graph import OpGraph, OpGraphOptions


class LinearResidual(OpGraph):
    """x + o wo in one program, with wo in bank order."""

    def __init__(self, env: LayerEnv, options: OpGraphOptions) -> None:
        super().__init__(env, options)
        s = env.shape
        self.out = SplitLinear(env.ttnn, env.device, s.tokens, s.q_dim, s.hidden, env.weight_dtype)
        what = f"wo of {s.q_dim} x {s.hidden} at {s.tokens} tokens"
        self.out_cbs = self.out.cbs(what, self.out.unit * self.out.block, 0)
        self.out_program: Program | None = None

    def _plain_weights(self) -> list[str]:
        return [name for name in super()._plain_weights() if name != "wo"]

    def prepare(self, i: int, weights: LayerWeights) -> None:
        super().prepare(i, weights)
        self.weights[i]["wo"] = self.out.weights(weights.wo)

    def _out_projection(self, i: int, x: Any, o: Any) -> Any:
        w = self.weights[i]["wo"]
        x1 = empty_tile_tensor(self.env.ttnn, self.env.device, x.shape)
        if self.out_program is None:
            self.out_program = self._build_out(o, x)
        movement = [t.buffer_address() for t in (o, x, x1)]
        return self.out_program.launch([o, x, w, x1], [w.buffer_address()], movement)

    def _build_out(self, o: Any, x: Any) -> Program:
        ttnn, split = self.env.ttnn, self.out
        reader, compute = {}, {}
        for group in split.groups:
            width = len(group.columns)
            for w in group.workers:
                reader[w.core] = [group.bank, w.first_tile * TILE_BYTES[split.dtype], width, len(w.units)]
                compute[w.core] = [width, len(w.units), len(w.owned)]
        slots = self.out_cbs[-1].tiles // (split.unit * split.block)
        sizes = [split.rows, split.unit, len(split.groups), split.parts, split.k, split.n]
        return Program(
            ttnn,
            "linear_residual",
            [group.rectangle for group in split.groups],
            self.out_cbs,
            Kernel([split.unit, split.block, slots], reader),
            Kernel([split.rows, split.unit, split.block, split.parts], compute),
            Kernel([*sizes, *accessor_args(ttnn, o, x)], split.movement_args()),
            semaphores=2,
            fidelity="HiFi2",
        )
