"""The op graph with both of the first fused kernels.

Replaces     what `norm_residual` and `heads_rope` replace: 19 ops become 12
Core map     theirs
CBs          theirs
us a layer   about 113 less than the published op graph, whose norms, first add and seven ops of the heads took 134 us
             and become 2 x 6.5 + 8; about 65 less than that of ttnn 0.81.1, which splits heads on more cores
             (both predicted arithmetic, not measured)
Limits       theirs
"""

from __future__ import annotations

from layer_impls.heads_rope import HeadsRope
from layer_impls.norm_residual import NormResidual


class PartlyFused(NormResidual, HeadsRope):
    """Each class overrides its own steps of the op graph."""
