"""The op graph with the second norm, the MLP and its residual add in one kernel.

Replaces     rms_norm (second), w1 + silu, w3, mul, w2, add: 19 ops become 14
Core map     a leader a tile row norms it and multicasts it to the grid. K of w2, and with it the columns of w1 and w3,
             split over the DRAM banks; these columns, and N of w2, over the cores in the NoC row of each: 8 groups of
             5 to 8 cores at the real shape, 59 in all and two leaders; 84 on a 13 x 10 grid (_split_linear.py)
us a call    65.5 predicted (emulator), 118.5 with bf16 weights; both grids alike; not measured
Binds        DRAM: 61.3 of the 65.5 us are its bytes at 500 GB/s, 2.5 the launch, 1.7 what follows the last weight
Weights      a core's columns of w1 and w3 side by side, gamma of the norm multiplied in, then its part of w2, all in
             bank order (layer_impls/_weights.py); as many bytes as before at the real shape
Limits       the norm lies whole in the L1 of each core: hidden up to 5,900 at 64 tokens with inter 4 times that. Up to
             128 tokens: DEST holds two columns

CBs of a core, for R tile rows, K tiles of hidden, and groups as in layer_impls/linear_residual.py
(indices as in kernels/shared/split_cbs.h and kernels/swiglu/cbs.h)
    0  weights      as stored  the share, or what fits    6  norm of x1, on all cores  bf16  R K
    1  own columns  bf16       R A                       Of a leader
    2  product      bf16       R W                        8  row of x1                 bf16  K
    3  partial      bf16       2 R U                      9  ones                      bf16  1
    4  parts        bf16       R O P                     10  squares                   fp32  1
    5  x1           bf16       R O                       11  1 / rms, column           fp32  1
   16  x2           bf16       R O

Predicted us, step by step (with a launch 1.5 longer)
    68.1  the norm comes from outside; one core reads it and multicasts it, half on each NoC
    67.8  leaders make the norm; the cores that only the multicast reaches have no kernels
    67.5  x1 is in DEST before the partial results are there; those of a unit leave together
    67.0  partial results in bf16
Dropped: w2 split over all cores by their own columns, without the exchange of the product: 69.7, as an owner adds 59
results, not 8; one output column a unit, 0.2 us less with 12 cores more, half a matmul block
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import torch

from harness.dtypes import TILE_BYTES
from harness.implementation import LayerEnv
from harness.shape import TILE
from harness.weights import LayerWeights
from layer_impls._program import (
    Cb,
    Core,
    Kernel,
    Program,
    Rectangle,
    Team,
    accessor_args,
    buffers,
    check_l1,
    empty_tile_tensor,
    fp32_bits,
)
from layer_impls._split_linear import SplitLinear, in_bank_order, share_starts, stream_cb
from layer_impls._weights import block_rows, tiles_of
from layer_impls.op_graph import OpGraph, OpGraphOptions


def gate_up_columns(weights: LayerWeights) -> torch.Tensor:
    """w1 and w3 with gamma of the norm before them: [inter / 32, hidden / 32 * 2, 32, 32], side by side row by row."""
    gamma = weights.norm2.float()[:, None]
    columns = torch.stack([tiles_of(w.float() * gamma) for w in (weights.w1, weights.w3)], 2)
    return columns.transpose(0, 1).flatten(1, 2)


def norm_leaders(layer: OpGraph, taken: Container[Core], cbs: Sequence[Cb], reader_args: Sequence[int]) -> Team:
    """A core a tile row, none of `taken`, that norms the row and multicasts it to the grid (kernels/shared/norm_*.h).

    reader_args: compile-time, of its reader, after the tiles of a row.
    """
    s, grid = layer.env.shape, Rectangle(0, 0, layer.grid.x, layer.grid.y)
    sizes = [s.tokens // TILE, s.hidden // TILE]
    cores = [core for core in grid.cores if core not in taken][: sizes[0]]
    row: dict[Core, list[int]] = {core: [r] for r, core in enumerate(cores)}
    corners = [n for core in (grid.last, grid.cores[0]) for n in layer._noc(core)]
    return Team(
        [Rectangle(*core, 1, 1) for core in cores],
        cbs,
        Kernel([sizes[1], *reader_args], row),
        Kernel([*sizes, fp32_bits(1 / s.hidden), fp32_bits(s.rms_eps)], row),
        Kernel([*sizes, *corners, len(grid.cores)], row),
        files="leader_",
    )


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
        cbs = self.mlp.cbs(1, 2, 3, 4, 5, 16)
        slots = max(self.mlp.slots(w, -(-hidden // self.mlp_block)) for w in self.mlp.workers)
        self.mlp_cbs = [*cbs, stream_cb(what, env.weight_dtype, self.mlp_slot, slots, (*cbs, *self.norm_cb))]
        self.leader_cbs = [*buffers("bf16", {8: hidden, 9: 1}), *buffers("fp32", {10: 1, 11: 1})]
        check_l1(what, (*self.norm_cb, *self.leader_cbs))
        self.mlp_program: Program | None = None

    def _plain_weights(self) -> list[str]:
        return [name for name in super()._plain_weights() if name not in ("norm2", "w1", "w3", "w2")]

    def prepare(self, i: int, weights: LayerWeights) -> None:
        super().prepare(i, weights)
        self.weights[i]["mlp"] = in_bank_order((self.mlp, weights.w2.float(), gate_up_columns(weights)))

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
        ttnn, split, hidden = self.env.ttnn, self.mlp, self.mlp.n
        accessor = accessor_args(ttnn, x1)
        reader, compute, starts = {}, {}, share_starts(split)
        for group in split.groups:
            for w in group.workers:
                work = [len(w.own), len(group.columns), len(w.units)]
                reader[w.core] = [group.bank, starts[w.core] * TILE_BYTES[split.dtype], *work]
                compute[w.core] = [*work, len(w.owned)]
        shape = [hidden, self.mlp_block, split.unit, split.block, self.mlp_slot]
        slots = self.mlp_cbs[-1].tiles // self.mlp_slot
        return Program(
            ttnn,
            "swiglu",
            [
                norm_leaders(self, reader, self.leader_cbs, accessor),
                Team(
                    [group.rectangle for group in split.groups],
                    self.mlp_cbs,
                    Kernel([*shape, slots], reader),
                    Kernel([split.rows, *shape, split.parts], compute),
                    Kernel(
                        [split.rows, hidden, split.unit, len(split.groups), split.parts, *accessor],
                        split.movement_args(),
                    ),
                    fidelity="HiFi2",
                    full_sync=split.rows > 2,  # DEST holds two columns
                ),
            ],
            semaphores=2 + split.rows,
            reach=[Rectangle(0, 0, self.grid.x, self.grid.y)],
            everywhere=self.norm_cb,
        )
