"""A right layer with places to spoil it, and the table of the faults."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from harness.dtypes import to_device
from harness.targets.recorder import NAMESPACES, NOT_OPS, SHORT
from layer_impls.op_graph import OpGraph


class Faulty(OpGraph):
    """The op graph, each of its ops through `op`, its output through `change`, its context through `Seen`."""

    def __init__(self, env: Any, options: Any) -> None:
        self.real, self.call = env, 0
        seen = Seen(self, env.context)
        super().__init__(dataclasses.replace(env, ttnn=Ops(self, env.ttnn), context=seen), options)

    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        self.call += 1
        self.i = i
        return self.put(super().layer_fn(i, x, k_cache, v_cache), self.change)

    # What faults override.

    def change(self, out: torch.Tensor) -> torch.Tensor:
        """The output, on the host."""
        return out

    def op(self, name: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """One op."""
        return call(*args, **kwargs)

    def see(self, mask: torch.Tensor, S: int) -> torch.Tensor | None:
        """The mask to use [1, 1, rows, Smax], fp32, in place of the right one; None for that."""
        return None

    # What they use.

    def host(self, tensor: Any) -> torch.Tensor:
        return self.real.ttnn.to_torch(tensor).float()

    def device(self, values: torch.Tensor, dtype: str = "bf16") -> Any:
        return to_device(self.real.ttnn, self.real.device, values, dtype)

    def put(self, tensor: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
        """Change a device tensor in place, where there is a change."""
        before = self.host(tensor)
        after = change(before.clone())
        if not torch.equal(before, after):
            fresh = self.device(after, SHORT[tensor.dtype.name])
            self.real.ttnn.copy_host_to_device_tensor(fresh.cpu(), tensor)
        return tensor

    def weight(self, tensor: Any) -> str | None:
        """Which weight of the current layer a tensor is."""
        return next((name for name, w in self.weights[self.i].items() if w is tensor), None)

    def own_rows(self, cache: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> None:
        """Change the rows that the layer has written, [1, n_kv, T, d]."""

        def edit(values: torch.Tensor) -> torch.Tensor:
            tail = values[:, :, -self.env.shape.tokens :]
            tail.copy_(change(tail.clone()))
            return values

        self.put(cache, edit)


class Ops:
    """A ttnn whose ops a fault may do otherwise."""

    def __init__(self, layer: Faulty, module: Any) -> None:
        self._layer, self._module = layer, module

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        if name in NAMESPACES:
            return Ops(self._layer, value)
        if isinstance(value, type) or not callable(value) or name in NOT_OPS or not name.islower():
            return value
        return lambda *args, **kwargs: self._layer.op(name, value, *args, **kwargs)


class Seen:
    """The context as a wrong layer sees it."""

    def __init__(self, layer: Faulty, context: Any) -> None:
        self._layer, self._context = layer, context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def mask(self, rows: int, dtype: str) -> Any:
        right = self._context.mask(rows, dtype)
        wrong = self._layer.see(self._layer.host(right), self._context.S) if self._layer.call else None
        return right if wrong is None else self._layer.device(wrong, dtype)


@dataclass(frozen=True)
class Fault:
    """says: what is wrong. caught: the part, and the figure of a tensor, that must say so. changes: of the case."""

    says: str
    caught: str
    layer: type[Faulty]
    changes: dict[str, Any]


FAULTS: dict[str, Fault] = {}


def fault(says: str, caught: str, **changes: Any) -> Callable[[type[Faulty]], type[Faulty]]:
    """Put a class into the table."""

    def register(cls: type[Faulty]) -> type[Faulty]:
        FAULTS[cls.__name__] = Fault(says, caught, cls, changes)
        return cls

    return register
