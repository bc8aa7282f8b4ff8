"""The emulated Blackhole: ttnn's names over torch, with the device's rounding at every op boundary.

``harness.emulator.ttnn`` is the module that implementations are handed. ``open_device`` here also takes a grid and a
number of DRAM banks, which the real ttnn finds in the card.
"""

from harness.emulator.memory import N_DRAM_BANKS
from harness.emulator.ttnn.device import DEFAULT_GRID, GRIDS, Device

__all__ = ["DEFAULT_GRID", "GRIDS", "Device", "open_device"]


def open_device(grid: tuple[int, int] = DEFAULT_GRID, banks: int = N_DRAM_BANKS) -> Device:
    """A device with ``grid`` worker cores (columns, rows): 11x10, as newer firmware leaves them, or 13x10."""
    return Device(grid, banks=banks)
