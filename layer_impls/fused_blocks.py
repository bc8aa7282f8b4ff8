"""The layer in four programs: its blocks, each a kernel of its own."""

from __future__ import annotations

from layer_impls.attention import Attention
from layer_impls.linear_residual import LinearResidual
from layer_impls.qkv_heads import QkvHeads
from layer_impls.swiglu import Swiglu


class FusedBlocks(QkvHeads, Attention, LinearResidual, Swiglu):
    """Each class overrides its own block of the op graph."""
