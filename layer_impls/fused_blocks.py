"""The layer in three programs: its blocks, each a kernel of its own.

Replaces     everything: 19 ops become 3
Core map     of each program its own: layer_impls/{qkv_heads,attention,wo_swiglu}.py
us a layer   predicted by the emulator (bfp8 weights), not measured on silicon; in parentheses the least its bytes need
                 S     cache   11x10   13x10            qkv_heads   attention   wo_swiglu
                 1024  bf16    110.3   110.8   (89.9)   20.2        17.8        72.3
                 1024  bfp8    108.8   109.7   (85.7)   19.9        16.5        72.3
                 4700  bf16    139.9   140.4  (120.1)   20.2        47.4        72.3
                 4700  bfp8    128.5   126.8  (101.8)   19.9        36.2        72.3     (11x10)
Binds        DRAM in all three; then what follows the last byte: writes of q, K and V; the merge of attention's parts
CBs          theirs; `layerbench breakdown fused_blocks --l1` lists them
Weights      theirs, in bank order; as many bytes as before
Limits       theirs: the strictest are that activations lie whole in the L1 of each core, in qkv_heads and wo_swiglu,
             and the 128 tokens of wo_swiglu
"""

from __future__ import annotations

from typing import ClassVar

from harness.implementation import LayerEnv, NoOptions
from layer_impls.attention import Attention
from layer_impls.op_graph import OpGraphOptions
from layer_impls.qkv_heads import QkvHeads
from layer_impls.wo_swiglu import WoSwiglu


class FusedBlocks(QkvHeads, Attention, WoSwiglu):
    """Each class overrides its own block of the op graph. No op is left that options could be for."""

    Options: ClassVar[type] = NoOptions

    def __init__(self, env: LayerEnv, options: NoOptions) -> None:
        super().__init__(env, OpGraphOptions())
