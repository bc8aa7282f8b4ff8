"""The op graph with both of the first fused kernels.

Replaces     what `norm_residual` and `heads_rope` replace: 19 ops become 12
Core map     theirs
CBs          theirs
us a layer   its three programs 23.6, predicted by the emulator, not measured on silicon; the ops they replace took 134
             in the published op graph
Limits       theirs
"""

from __future__ import annotations

from layer_impls.heads_rope import HeadsRope
from layer_impls.norm_residual import NormResidual


class PartlyFused(NormResidual, HeadsRope):
    """Each class overrides its own steps of the op graph."""
