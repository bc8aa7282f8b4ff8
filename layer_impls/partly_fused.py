"""The op graph with both of the first fused kernels.

Replaces     what `norm_residual` and `heads_rope` replace: 19 ops become 12
Core map     theirs
CBs          theirs
us a layer   about 113 less than the published op graph (predicted arithmetic, not measured): its norms, its first add
             and the seven ops of the heads, 134 us with an older ttnn, become 2 x 6.5 + 8
Limits       theirs
"""

from __future__ import annotations

from layer_impls.heads_rope import HeadsRope
from layer_impls.norm_residual import NormResidual


class PartlyFused(NormResidual, HeadsRope):
    """Each class overrides its own steps of the op graph."""
