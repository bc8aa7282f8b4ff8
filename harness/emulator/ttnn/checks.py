"""Refusals: every bad call ends in a RuntimeError of one line, as the real ttnn's TT_FATAL does in many."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.emulator.ttnn.tensor import Tensor


def require(condition: bool, message: str) -> None:
    """Raise RuntimeError with ``message`` unless ``condition`` holds."""
    if not condition:
        raise RuntimeError(message)


def require_on_device(op: str, **tensors: Tensor | None) -> None:
    """Raise RuntimeError unless every tensor is on the device, allocated, and all on the same device."""
    for name, tensor in tensors.items():
        if tensor is None:
            continue
        require(tensor.buffer is not None, f"{op}: {name} is a host tensor; move it to the device first")
        require(tensor.is_allocated(), f"{op}: {name} was deallocated")
    devices = {id(t.device()) for t in tensors.values() if t is not None}
    require(len(devices) <= 1, f"{op}: the operands lie on different devices")


def require_tile(op: str, **tensors: Tensor | None) -> None:
    """Raise RuntimeError unless every tensor has TILE layout."""
    from harness.emulator.formats import Layout

    for name, tensor in tensors.items():
        require(tensor is None or tensor.layout is Layout.TILE, f"{op}: {name} must have TILE layout")
