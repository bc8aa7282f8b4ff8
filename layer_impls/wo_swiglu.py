"""The op graph with everything after the attention in one kernel.

Replaces     wo, add, rms_norm (second), w1 + silu, w3, mul, w2, add: 19 ops become 12
Core map     K of wo and of w2, and with w2 the columns of w1 and w3, split over the DRAM banks; N, and these columns,
             over the cores in the NoC row of each: 8 groups of 5 to 8 cores at the real shape, 59 in all, 84 on a
             13 x 10 grid (_split_linear.py). A leader a tile row collects x1 from the owners of its columns, norms it
             and multicasts it to the grid. The residual stays with the owners
us a call    72.3 predicted (emulator), 131.2 with bf16 weights; both grids alike; not measured. linear_residual and
             swiglu one after the other: 77.5
Binds        DRAM: 68.2 of the 72.3 us are its bytes at 500 GB/s, 2.5 the launch, 1.6 what follows the last weight. The
             columns of w1 and w3 stream in while x1 and its norm are made
Weights      a core's part of wo, its columns of w1 and w3 side by side with gamma of the norm multiplied in, its part
             of w2, in bank order (_weights.py); as many bytes as before at the real shape
Limits       the norm, and a row of x1, lie whole in the L1 of each core: hidden up to 4,128 at 64 tokens with inter 4
             times that. At most 128 tokens: DEST holds two columns

CBs of a core, for R tile rows and K tiles of hidden; each linear's as in layer_impls/linear_residual.py, with its own
W and A (indices as in kernels/wo_swiglu/plan.h and kernels/shared/norm_leader.h)
              wo   w2                                         On all cores
    weights    0        as stored  the share, or what fits    6  norm of x1       bf16  R K
    own        1   18   bf16       R A                        8  row of x1        bf16  K
    in         2   19   bf16       R W                       Of a leader
    partial    3   20   bf16       2 R U                      9  ones             bf16  1
    parts      4   21   bf16       R O P                     10  squares          fp32  1
    x          5   17   bf16       R O                       11  1 / rms, column  fp32  1
    out       16   22   bf16       R O
"""

from __future__ import annotations

from typing import Any

from harness.dtypes import TILE_BYTES
from harness.implementation import LayerEnv
from harness.shape import TILE
from harness.weights import LayerWeights
from layer_impls._program import (
    Core,
    Kernel,
    Program,
    Rectangle,
    Team,
    accessor_args,
    buffers,
    check_l1,
    empty_tile_tensor,
)
from layer_impls._split_linear import SplitLinear, in_bank_order, share_starts, stream_cb, teams
from layer_impls._weights import block_rows
from layer_impls.op_graph import OpGraph, OpGraphOptions
from layer_impls.swiglu import gate_up_columns, norm_leaders


class WoSwiglu(OpGraph):
    """x1 = x + o wo, and x1 + (silu(h w1) * (h w3)) w2 with h the norm of x1: one program, one stream of weights."""

    def __init__(self, env: LayerEnv, options: OpGraphOptions) -> None:
        super().__init__(env, options)
        ttnn, device, s, dtype = env.ttnn, env.device, env.shape, env.weight_dtype
        hidden, rows = s.hidden // TILE, s.tokens // TILE
        cores = teams(ttnn, device, s.tokens, s.hidden, [(s.q_dim, 0), (s.inter, 2 * hidden)])
        self.wo = SplitLinear(ttnn, device, s.tokens, s.q_dim, s.hidden, dtype, 0, cores)
        self.w2 = SplitLinear(ttnn, device, s.tokens, s.inter, s.hidden, dtype, 2 * hidden, cores)
        self.gate_up_block = block_rows(hidden, 2, dtype)
        self.slot = max(2 * self.gate_up_block, self.wo.unit * self.wo.block, self.w2.unit * self.w2.block)
        self.everywhere = buffers("bf16", {6: rows * hidden, 8: hidden})
        self.leader_cbs = [*buffers("bf16", {9: 1}), *buffers("fp32", {10: 1, 11: 1})]
        own = [*self.wo.cbs(1, 2, 3, 4, 5, 16), *self.w2.cbs(18, 19, 20, 21, 17, 22)]
        column_slots = -(-hidden // self.gate_up_block)
        slots = max(
            self.wo.slots(a) + self.w2.slots(b, column_slots)
            for a, b in zip(self.wo.workers, self.w2.workers, strict=True)
        )
        what = f"{s.q_dim} x {s.hidden} of wo and an MLP of {s.hidden} x {s.inter} at {s.tokens} tokens"
        check_l1(what, (*self.everywhere, *self.leader_cbs))
        self.cbs = [*own, stream_cb(what, dtype, self.slot, slots, (*own, *self.everywhere))]
        self.rest_program: Program | None = None

    def _plain_weights(self) -> list[str]:
        return [name for name in super()._plain_weights() if name not in ("wo", "norm2", "w1", "w3", "w2")]

    def prepare(self, i: int, weights: LayerWeights) -> None:
        super().prepare(i, weights)
        self.weights[i]["rest"] = in_bank_order(
            (self.wo, weights.wo.float(), None), (self.w2, weights.w2.float(), gate_up_columns(weights))
        )

    def _rest(self, i: int, x: Any, o: Any) -> Any:
        w = self.weights[i]["rest"]
        out = empty_tile_tensor(self.env.ttnn, self.env.device, x.shape)
        if self.rest_program is None:
            self.rest_program = self._build_rest(o, x)
        movement = [t.buffer_address() for t in (o, x, out)]
        self.rest_program.launch([o, x, w, out], [w.buffer_address()], movement)
        self.env.ttnn.deallocate(o)
        return out

    def _rest_runtime(self) -> tuple[dict[Core, list[int]], dict[Core, list[int]]]:
        """Each worker's share of the weights, for its reader, and of the work, for compute."""
        wo, w2 = self.wo, self.w2
        starts = share_starts(wo, w2)
        reader: dict[Core, list[int]] = {}
        compute: dict[Core, list[int]] = {}
        for first, second in zip(wo.groups, w2.groups, strict=True):
            for a, b in zip(first.workers, second.workers, strict=True):
                work = [len(a.units), len(first.columns), len(b.own), len(second.columns)]
                reader[a.core] = [first.bank, starts[a.core] * TILE_BYTES[wo.dtype], *work]
                compute[a.core] = [*work, len(a.owned)]
        return reader, compute

    def _build_rest(self, o: Any, x: Any) -> Program:
        ttnn, wo, w2, hidden = self.env.ttnn, self.wo, self.w2, self.wo.n
        reader, compute = self._rest_runtime()
        leaders = norm_leaders(self, reader, self.leader_cbs, [])
        first_args, second_args = wo.movement_args(), w2.movement_args()
        to_leaders = [wo.packed(core.last) for core in leaders.cores]
        writer = {core: [*first_args[core], *second_args[core], *to_leaders] for core in first_args}
        blocks = [wo.unit, wo.block, hidden, self.gate_up_block, w2.block, self.slot]
        groups = [wo.rows, wo.unit, len(wo.groups), wo.parts]
        return Program(
            ttnn,
            "wo_swiglu",
            [
                leaders,
                Team(
                    [group.rectangle for group in wo.groups],
                    self.cbs,
                    Kernel([*blocks, self.cbs[-1].tiles // self.slot], reader),
                    Kernel([wo.rows, *blocks, wo.parts], compute),
                    Kernel([*groups, wo.k, hidden, *accessor_args(ttnn, o, x)], writer),
                    fidelity="HiFi2",
                    full_sync=wo.rows > 2,  # DEST holds two columns
                ),
            ],
            semaphores=9,
            reach=[Rectangle(0, 0, self.grid.x, self.grid.y)],
            everywhere=self.everywhere,
        )
