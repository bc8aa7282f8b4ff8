"""The op graph with the last residual add in a kernel of its own.

Replaces     the last add: one op for one, 19 ops stay 19
Core map     a unit of work is a tile of the output: 96 at the real shape, a core each; where there are more tiles than
             cores, each core takes consecutive ones
us a call    not looked at yet: layerbench explain starter
Limits       none beyond the layer's

CBs of a core (indices as in kernels/starter/cbs.h), two tiles each, so that one moves while the other is worked on
    0  x1    bf16  2
    1  down  bf16  2
   16  out   bf16  2
"""

from __future__ import annotations

import math
from typing import Any

from harness.implementation import LayerEnv
from layer_impls._program import Kernel, Program, Team, accessor_args, buffers, empty_tile_tensor, first_cores
from layer_impls.op_graph import OpGraph, OpGraphOptions

TILE_ELEMENTS = 32 * 32


class StarterLayer(OpGraph):
    """x1 + down in one program; the rest is the op graph's."""

    def __init__(self, env: LayerEnv, options: OpGraphOptions) -> None:
        super().__init__(env, options)
        self.program: Program | None = None

    def _last_add(self, i: int, x1: Any, down: Any) -> Any:
        out = empty_tile_tensor(self.env.ttnn, self.env.device, x1.shape)
        if self.program is None:
            self.program = self._build(x1, out)
        # Tensors move from call to call, so their addresses go with each launch.
        reader, writer = [x1.buffer_address(), down.buffer_address()], [out.buffer_address()]
        return self.program.launch([x1, down, out], reader, writer)

    def _build(self, x1: Any, out: Any) -> Program:
        ttnn = self.env.ttnn
        tiles = math.prod(x1.shape) // TILE_ELEMENTS
        per_core = math.ceil(tiles / (self.grid.x * self.grid.y))
        cores = first_cores(self.grid, math.ceil(tiles / per_core))
        firsts = range(0, tiles, per_core)
        share = {
            core: [first, min(per_core, tiles - first)]
            for core, first in zip((core for r in cores for core in r.cores), firsts, strict=True)
        }
        return Program(
            ttnn,
            "starter",
            [
                Team(
                    cores,
                    buffers("bf16", {0: 2, 1: 2, 16: 2}),
                    reader=Kernel(accessor_args(ttnn, x1), share),
                    compute=Kernel([], share),
                    writer=Kernel(accessor_args(ttnn, out), share),
                )
            ],
        )
