"""What an implementation of the layer is.

A file in `layer_impls/` defines one subclass of `Implementation`; the file's name is the implementation's name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.context import LayerContext
from harness.shape import LayerShape
from harness.weights import LayerWeights


@dataclass(frozen=True)
class NoOptions:
    """An implementation without options."""


@dataclass(frozen=True)
class LayerEnv:
    """What an implementation runs in. Which target it is, it cannot tell and must not ask.

    ttnn           the module to use (never import one)
    device         the open device
    shape          dimensions of the layer
    context        the device buffers that carry S and the positions
    weight_dtype   `bfp8` or `bf16`, how to store the projections
    cache_dtype    `bf16` or `bfp8`, how the caches come
    """

    ttnn: Any
    device: Any
    shape: LayerShape
    context: LayerContext
    weight_dtype: str = "bfp8"
    cache_dtype: str = "bf16"


class Implementation(ABC):
    """One way to compute the layer.

    Options: a frozen dataclass; its fields, typed `Literal[...]`, `int` or `bool`, are what the command line
    takes as `name:field=value`.
    """

    Options: ClassVar[type] = NoOptions

    def __init__(self, env: LayerEnv, options: Any) -> None:
        """Check that shape, grid and options can be mapped; raise `UsageError` if not."""
        self.env, self.options = env, options

    @abstractmethod
    def prepare(self, i: int, weights: LayerWeights) -> None:
        """Once a layer, before any capture: put the weights of layer i on the device."""

    @abstractmethod
    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        """Layer i. x [1, 1, T, hidden] bf16 TILE; caches [1, n_kv, Smax, head_dim] TILE, rows [0, S) valid.

        Returns a new tensor like x. Writes the own roped keys and the values into rows [Smax-T, Smax) of the
        caches and nothing else; leaves x alone. S reaches it only through the context's buffers.
        """

    layers_per_call: int = 1  # how many `layers_fn` takes at most

    def layers_fn(self, first: int, x: Any, caches: Sequence[tuple[Any, Any]]) -> Any:
        """The layers from `first` on, one for each k_cache and v_cache of `caches`: to the bit what `layer_fn` does
        with one after the other."""
        (cache,) = caches
        return self.layer_fn(first, x, *cache)

    def plan(self) -> list[str]:
        """How the layer is mapped on this device, in lines to read: cores, shares, L1. None unless there is a plan."""
        return []
