"""The op graph with everything between the qkv projection and the attention in one kernel.

Replaces     create_qkv_heads, q_norm, k_norm, rope q, rope k, fill K, fill V, and the two typecasts of a bfp8 cache:
             19 ops become 13
Core map     a unit of work is a head in a tile row: 32 heads x 2 rows = 64 units at the real shape, a core each; where
             there are more units than cores, each core takes consecutive ones. Whole columns of the grid, 7 at the real
             shape; the last core leads: it reads cos, sin and the gammas and multicasts them, half on each NoC
us a call    8.9 predicted by the emulator, not measured on silicon; both grids alike
Binds        latencies: launch 2.6, the tables 2, then norm, rotation and writes
Limits       the tables lie whole in the L1 of each core: about 2,500 tokens with heads of 128

CBs of a core, for heads of d tiles and R tile rows (indices as in kernels/heads_rope/cbs.h)
    0  head           bf16  2 d         6  1 / rms, column  fp32  1        16  q         bf16           2 d
    1  tables         bf16  2 d (R + 1)  7  head, rotated    fp32  d        17  K or V    as the caches  2 d
    4  ones           bf16  1           8  cos * gamma      fp32  d
    5  sum of squares fp32  1           9  sin * gamma      fp32  d

Versions, predicted us
    10.3   each core reads its tables, 1.7 MB in all
     8.9   tables read once, 0.6 MB, and multicast; ones made by the SFPU; the sum of squares while the tables come
"""

from __future__ import annotations

from typing import Any

from harness.implementation import LayerEnv
from harness.shape import TILE
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
    fp32_bits,
)
from layer_impls.op_graph import OpGraph, OpGraphOptions


class HeadsRope(OpGraph):
    """Head split, q/k norm, rotary embedding and cache fill in one program."""

    def __init__(self, env: LayerEnv, options: OpGraphOptions) -> None:
        super().__init__(env, options)
        s = env.shape
        d, rows = s.head_dim // TILE, s.tokens // TILE
        self.heads_cbs = [
            *buffers("bf16", {0: 2 * d, 1: 2 * (rows + 1) * d, 4: 1, 16: 2 * d}),
            *buffers("fp32", {5: 1, 6: 1, 7: d, 8: d, 9: d}),
            *buffers(env.cache_dtype, {17: 2 * d}),
        ]
        check_l1(f"a head of {s.head_dim} with the tables of {s.tokens} tokens", self.heads_cbs)
        self.heads_program: Program | None = None

    def _heads(self, qkv: Any, w: dict[str, Any], k_cache: Any, v_cache: Any) -> Any:
        ttnn, s, context = self.env.ttnn, self.env.shape, self.env.context
        q = empty_tile_tensor(ttnn, self.env.device, (1, s.n_heads, s.tokens, s.head_dim))
        tables, gammas = [context.cos, context.sin], [w["q_norm"], w["k_norm"]]
        outputs = [q, k_cache, v_cache]
        if self.heads_program is None:
            self.heads_program = self._build_heads(qkv, tables[0], gammas[0], outputs)
        reads = [t.buffer_address() for t in (qkv, tables[0], gammas[0])]
        writes = [t.buffer_address() for t in (*outputs, tables[1], gammas[1])]
        return self.heads_program.launch(
            [qkv, *tables, *gammas, k_cache, v_cache, q], reads, [*writes, k_cache.shape[2] // TILE]
        )

    def _build_heads(self, qkv: Any, table: Any, gamma: Any, outputs: list[Any]) -> Program:
        ttnn, s = self.env.ttnn, self.env.shape
        d, rows = s.head_dim // TILE, s.tokens // TILE
        units = (s.n_heads + 2 * s.n_kv_heads) * rows
        per_core = -(-units // (self.grid.x * self.grid.y))
        busy = -(-units // per_core)
        # Whole columns of the grid, as few as will do, with one core more to lead if there is one.
        whole = Rectangle(0, 0, min(self.grid.x, -(-(busy + 1) // self.grid.y)), self.grid.y)
        share: dict[Core, list[int]] = {
            core: [min(i * per_core, units), max(0, min(per_core, units - i * per_core))]
            for i, core in enumerate(whole.cores)
        }
        first, last, others = self._noc(whole.cores[0]), self._noc(whole.last), len(whole.cores) - 1
        # The rectangle in the direction of each NoC.
        lead_0, lead_1 = [1, *first, *last, others], [1, *last, *first, others]
        reader = {core: [*own, *(lead_0 if core == whole.last else [0])] for core, own in share.items()}
        writer = {core: [*own, *(lead_1 if core == whole.last else [0])] for core, own in share.items()}
        sizes = [s.n_heads, s.n_kv_heads, d, rows]
        return Program(
            ttnn,
            "heads_rope",
            [
                Team(
                    [whole],
                    self.heads_cbs,
                    Kernel([*sizes, *accessor_args(ttnn, qkv, table, gamma)], reader),
                    Kernel([*sizes, fp32_bits(1 / s.head_dim), fp32_bits(s.rms_eps)], share),
                    Kernel([*sizes, *accessor_args(ttnn, *outputs, table, gamma)], writer),
                )
            ],
            semaphores=2,
        )
