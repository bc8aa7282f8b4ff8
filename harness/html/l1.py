"""What programs of kernels hold of the L1 of a core, as bars from its first byte to its last."""

from __future__ import annotations

from dataclasses import dataclass

from harness.breakdown import Breakdown
from harness.emulator.memory import L1_BYTES
from harness.html.bars import LETTER, ROOM
from harness.targets.recorder import SHORT


@dataclass(frozen=True)
class Block:
    """A circular buffer: its place of ROOM, its indices where they have room, and all about it."""

    x: float
    width: float
    label: str
    about: str


@dataclass(frozen=True)
class L1Bar:
    """A group of cores that hold the same."""

    title: str
    taken: int
    free: int
    blocks: tuple[Block, ...]


def l1_bars(b: Breakdown) -> list[L1Bar]:
    """A bar for each group of cores of each program, in order."""
    bars = []
    for n, line in enumerate(b.lines, 1):
        for group in line.counts.l1 if line.counts else ():
            blocks = []
            for cb in group.cbs:
                formats = ", ".join(SHORT.get(name, name.lower()) for name in cb.formats)
                label, width = " ".join(map(str, cb.indices)), cb.bytes * ROOM / L1_BYTES
                about = f"CB {', '.join(map(str, cb.indices))}: {formats}, {cb.bytes} bytes from {cb.address}"
                shown = label if width > LETTER * len(label) + 4 else ""
                blocks.append(Block(cb.address * ROOM / L1_BYTES, width, shown, about))
            (x, y), more = group.cores[0], len(group.cores) - 1
            where = f"core ({x},{y})" + (f" and {more} alike" if more else "")
            taken = sum(cb.bytes for cb in group.cbs)
            bars.append(L1Bar(f"{n} {line.label}, {where}", taken, group.free, tuple(blocks)))
    return bars
