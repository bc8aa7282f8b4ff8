"""Layers that are wrong on purpose, and the part of the verdict that must catch each."""

from tests.wrong_layers import arithmetic, attention, caches, memory, outputs  # noqa: F401  (they fill FAULTS)
from tests.wrong_layers.faulty import FAULTS, Fault, Faulty

__all__ = ["FAULTS", "Fault", "Faulty"]
