"""The op graph with everything between the qkv projection and the attention in one kernel.

Replaces     create_qkv_heads, q_norm, k_norm, rope q, rope k, fill K, fill V, and the two typecasts of a bfp8 cache:
             19 ops become 13
Core map     a unit of work is a head in a tile row: 32 heads x 2 rows = 64 units at the real shape, a core each; where
             there are more units than cores, each core takes consecutive ones
us a call    about 8 (predicted arithmetic, not measured: launch 2, one read 0.5, five passes over 4 tiles 4, write 1)
Limits       none beyond the layer's

CBs of a core, for heads of d tiles (indices as in kernels/heads_rope/cbs.h), those of a unit twice
    0  head           bf16  2 d       4  ones             bf16  1         8  cos * gamma         fp32  d
    1  gamma          bf16  2 d       5  sum of squares   fp32  1         9  sin * gamma         fp32  d
    2  cos            bf16  2 d       6  1 / rms, column  fp32  1        16  q                   bf16  2 d
    3  sin            bf16  2 d       7  head, rotated    fp32  d        17  K or V              as the caches  2 d
"""

from __future__ import annotations

from typing import Any

from harness.implementation import LayerEnv
from harness.shape import TILE
from layer_impls._program import (
    Core,
    Kernel,
    Program,
    accessor_args,
    buffers,
    empty_tile_tensor,
    first_cores,
    fp32_bits,
)
from layer_impls.op_graph import OpGraph, OpGraphOptions


class HeadsRope(OpGraph):
    """Head split, q/k norm, rotary embedding and cache fill in one program."""

    def __init__(self, env: LayerEnv, options: OpGraphOptions) -> None:
        super().__init__(env, options)
        self.heads_program: Program | None = None

    def _heads(self, qkv: Any, w: dict[str, Any], k_cache: Any, v_cache: Any) -> Any:
        ttnn, s, context = self.env.ttnn, self.env.shape, self.env.context
        q = empty_tile_tensor(ttnn, self.env.device, (1, s.n_heads, s.tokens, s.head_dim))
        reads, writes = [qkv, w["q_norm"], w["k_norm"], context.cos, context.sin], [k_cache, v_cache, q]
        if self.heads_program is None:
            self.heads_program = self._build_heads(reads, [q, k_cache, v_cache])
        addresses = [t.buffer_address() for t in (q, k_cache, v_cache)]
        return self.heads_program.launch(
            reads + writes, [t.buffer_address() for t in reads], [*addresses, k_cache.shape[2] // TILE]
        )

    def _build_heads(self, reads: list[Any], writes: list[Any]) -> Program:
        ttnn, s = self.env.ttnn, self.env.shape
        d, rows = s.head_dim // TILE, s.tokens // TILE
        units = (s.n_heads + 2 * s.n_kv_heads) * rows
        per_core = -(-units // (self.grid.x * self.grid.y))
        rectangles = first_cores(self.grid, -(-units // per_core))
        cores = [core for r in rectangles for core in r.cores]
        share: dict[Core, list[int]] = {
            core: [i * per_core, min(per_core, units - i * per_core)] for i, core in enumerate(cores)
        }
        cbs = [
            *buffers("bf16", {0: 2 * d, 1: 2 * d, 2: 2 * d, 3: 2 * d, 4: 1, 16: 2 * d}),
            *buffers("fp32", {5: 1, 6: 1, 7: d, 8: d, 9: d}),
            *buffers(self.env.cache_dtype, {17: 2 * d}),
        ]
        heads = [s.n_heads, s.n_kv_heads, d]
        return Program(
            ttnn,
            "heads_rope",
            rectangles,
            cbs,
            Kernel([*heads, *accessor_args(ttnn, *reads)], share),
            Kernel([*heads, fp32_bits(1 / s.head_dim), fp32_bits(s.rms_eps)], share),
            Kernel([*heads, rows, *accessor_args(ttnn, *writes)], share),
        )
