"""The layer in four programs: its blocks, each a kernel of its own.

Replaces     everything: 19 ops become 4
Core map     of each program its own: layer_impls/{qkv_heads,attention,linear_residual,swiglu}.py
us a layer   154 predicted by the emulator at S 4700, bf16 cache, 11x10, not measured on silicon: the programs in a row
             21.5, 52.4, 13.5, 67.0
CBs          theirs; `layerbench breakdown fused_blocks --l1` lists them
Weights      theirs, in bank order; as many bytes as before
Limits       theirs: the strictest is that activations lie whole in the L1 of a core, in qkv_heads and swiglu
"""

from __future__ import annotations

from harness.implementation import LayerEnv, NoOptions
from layer_impls.attention import Attention
from layer_impls.linear_residual import LinearResidual
from layer_impls.op_graph import OpGraphOptions
from layer_impls.qkv_heads import QkvHeads
from layer_impls.swiglu import Swiglu


class FusedBlocks(QkvHeads, Attention, LinearResidual, Swiglu):
    """Each class overrides its own block of the op graph. No op is left that options could be for."""

    Options = NoOptions

    def __init__(self, env: LayerEnv, options: NoOptions) -> None:
        super().__init__(env, OpGraphOptions())
