"""The op graph with the output projection of the attention and the residual add in one kernel.

Replaces     wo, add: 19 ops become 18
Core map     K split over the DRAM banks, N over the cores in the NoC row of each: 8 groups of 5 to 8 cores at the real
             shape, 59 in all, 84 on a 13 x 10 grid (layer_impls/_split_linear.py)
us a call    12.0 predicted (emulator), 17.9 with bf16 weights; both grids alike; not measured
Binds        DRAM: 8.0 of the 12.0 us are its bytes at 500 GB/s, 2.5 the launch, 1.5 what follows the last weight
Weights      wo in bank order (layer_impls/_weights.py), as many bytes as before at the real shape
Limits       activations of a group lie in the L1 of each of its cores: q_dim up to 65,536 at 64 tokens. At most 128
             tokens: DEST holds a column

CBs of a core, for R tile rows, groups of W columns of activations, units of U output columns, P groups, and cores that
bring A columns of activations and own O of the output (indices as in kernels/shared/split_cbs.h)
    0  wo           as stored  the share, or what fits    4  parts    bf16  R O P
    1  own columns  bf16       R A                        5  x        bf16  R O
    2  activations  bf16       R W                       16  x1       bf16  R O
    3  partial      bf16       2 R U

Predicted us, step by step (with a launch 1.5 longer)
    15.7  each core waits for its activations behind the weights of all
    14.7  activations are asked for first
    14.3  groups begin with different columns, so that an owner hears from one at a time
    14.0  x is in DEST before the partial results are there
    13.9  the partial results of a unit leave together
    13.5  in bf16, not fp32: an error of 0.00475 of the update, not 0.00471 (bf16 weights)
Dropped: K split over all 59 cores, 21.5; one output column a unit, 0.2 us less with 12 cores more, half a matmul block
"""

from __future__ import annotations

from typing import Any

from harness.dtypes import TILE_BYTES
from harness.implementation import LayerEnv
from harness.weights import LayerWeights
from layer_impls._program import Kernel, Program, Team, accessor_args, empty_tile_tensor
from layer_impls._split_linear import SplitLinear, in_bank_order, share_starts, stream_cb
from layer_impls.op_graph import OpGraph, OpGraphOptions


class LinearResidual(OpGraph):
    """x + o wo in one program, with wo in bank order."""

    def __init__(self, env: LayerEnv, options: OpGraphOptions) -> None:
        super().__init__(env, options)
        s = env.shape
        self.out = SplitLinear(env.ttnn, env.device, s.tokens, s.q_dim, s.hidden, env.weight_dtype)
        what = f"wo of {s.q_dim} x {s.hidden} at {s.tokens} tokens"
        self.out_slot = self.out.unit * self.out.block
        cbs = self.out.cbs(1, 2, 3, 4, 5, 16)
        slots = max(self.out.slots(w) for w in self.out.workers)
        self.out_cbs = [*cbs, stream_cb(what, env.weight_dtype, self.out_slot, slots, cbs)]
        self.out_program: Program | None = None

    def _plain_weights(self) -> list[str]:
        return [name for name in super()._plain_weights() if name != "wo"]

    def prepare(self, i: int, weights: LayerWeights) -> None:
        super().prepare(i, weights)
        self.weights[i]["wo"] = in_bank_order((self.out, weights.wo, None))

    def _out_projection(self, i: int, x: Any, o: Any) -> Any:
        w = self.weights[i]["wo"]
        x1 = empty_tile_tensor(self.env.ttnn, self.env.device, x.shape)
        if self.out_program is None:
            self.out_program = self._build_out(o, x)
        movement = [t.buffer_address() for t in (o, x, x1)]
        return self.out_program.launch([o, x, w, x1], [w.buffer_address()], movement)

    def _build_out(self, o: Any, x: Any) -> Program:
        ttnn, split = self.env.ttnn, self.out
        reader, compute, starts = {}, {}, share_starts(split)
        for group in split.groups:
            for w in group.workers:
                work = [len(group.columns), len(w.units)]
                reader[w.core] = [group.bank, starts[w.core] * TILE_BYTES[split.dtype], *work]
                compute[w.core] = [*work, len(w.owned)]
        slots = self.out_cbs[-1].tiles // self.out_slot
        sizes = [split.rows, split.unit, len(split.groups), split.parts, split.k, split.n]
        return Program(
            ttnn,
            "linear_residual",
            [
                Team(
                    [group.rectangle for group in split.groups],
                    self.out_cbs,
                    Kernel([split.unit, split.block, slots], reader),
                    Kernel([split.rows, split.unit, split.block, split.parts], compute),
                    Kernel([*sizes, *accessor_args(ttnn, o, x)], split.movement_args()),
                    fidelity="HiFi2",
                )
            ],
            semaphores=2,
        )
