"""What the tensors of an expert are called in a checkpoint, and what shapes they have.

Inside the project a tensor has its short name: `layers.3.mlp.up_proj.weight`, `norm.weight`, `action_in_proj....`,
`action_out_proj....`. A checkpoint puts prefixes before it. Source: the names in the released checkpoints.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from harness.errors import UsageError
from harness.shape import LayerShape
from harness.weights import LayerWeights

ACTION_DIMS = 2  # acceleration, curvature
FREQUENCIES = 10  # of each scalar's encoding
FEATURES = 2 * FREQUENCIES * (ACTION_DIMS + 1)  # sines and cosines of both and of the time
TRUNK = 512  # width of the input projection's hidden layers
FLOATS = ("BF16", "F16", "F32")  # of the files that are read, as safetensors calls them


@dataclass(frozen=True)
class Scheme:
    """Prefixes of a generation of checkpoints: of the decoder (layers and final norm), and of the projections."""

    decoder: str
    action: str

    def stored(self, name: str) -> str:
        """The short name as the checkpoint has it."""
        return (self.action if name.startswith("action_") else self.decoder) + name


SCHEMES = {
    "Alpamayo 2": Scheme("expert.expert.", "expert."),
    "Alpamayo R1 and 1.5": Scheme("expert.", ""),
}


def projection_shapes(hidden: int) -> dict[str, tuple[int, ...]]:
    """The tensors of both projections -> their shapes, as torch's Linear and norms have them."""
    trunk, norm = "action_in_proj.encoder.trunk", "action_in_proj.norm"
    return {
        f"{trunk}.0.weight": (TRUNK, FEATURES),
        f"{trunk}.0.bias": (TRUNK,),
        f"{trunk}.2.weight": (TRUNK,),
        f"{trunk}.3.weight": (TRUNK, TRUNK),
        f"{trunk}.3.bias": (TRUNK,),
        f"{trunk}.5.weight": (TRUNK,),
        f"{trunk}.6.weight": (hidden, TRUNK),
        f"{trunk}.6.bias": (hidden,),
        f"{norm}.weight": (hidden,),
        f"{norm}.bias": (hidden,),
        "action_out_proj.weight": (ACTION_DIMS, hidden),
        "action_out_proj.bias": (ACTION_DIMS,),
    }


def expert_shapes(shape: LayerShape, n_layers: int) -> dict[str, tuple[int, ...]]:
    """Every tensor of an expert, layer by layer, then the final norm and the projections -> its shape."""
    layer = LayerWeights.hf_shapes(shape)
    layers = {f"layers.{i}.{name}": dims for i in range(n_layers) for name, dims in layer.items()}
    return {**layers, "norm.weight": (shape.hidden,), **projection_shapes(shape.hidden)}


def scheme_of(stored: Iterable[str]) -> Scheme:
    """The scheme that a checkpoint's names follow; `UsageError` if it is none that is known."""
    stored = set(stored)
    for scheme in SCHEMES.values():
        if scheme.stored("norm.weight") in stored:
            return scheme
    wanted = " or ".join(f"{s.stored('norm.weight')} ({name})" for name, s in SCHEMES.items())
    raise UsageError(f"the checkpoint has no expert: no tensor {wanted}")


def count_layers(stored: Iterable[str], scheme: Scheme) -> int:
    """Layers of the expert: one more than the highest number among the names."""
    layer = re.compile(re.escape(scheme.stored("layers.")) + r"(\d+)\.")
    numbers = [int(found[1]) for found in map(layer.match, stored) if found]
    return max(numbers, default=-1) + 1
