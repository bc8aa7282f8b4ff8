"""What long work over layers reports."""

from __future__ import annotations

from collections.abc import Callable

Layers = Callable[[int, int], None]  # layers done, of how many


def no_layers(done: int, of: int) -> None:
    """For callers that show none."""
