"""What a program did, counted: per core and in all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from harness.emulator.programs.l1 import L1Map
from harness.emulator.programs.predicted import Prediction
from harness.emulator.programs.timeline import Timeline


@dataclass
class Counts:
    """Transfers (number and bytes), barriers and tile operations of one core, or of all together.

    A multicast counts once, with the bytes sent. ``most_reads_in_flight``: on one thread before a barrier; in a total,
    the largest of the cores. ``tile_ops``: number by kind, formats and fidelity. ``cb_high_water``: most pages that a
    circular buffer held, by index.
    """

    dram_reads: int = 0
    dram_read_bytes: int = 0
    dram_writes: int = 0
    dram_write_bytes: int = 0
    l1_reads: int = 0
    l1_read_bytes: int = 0
    l1_writes: int = 0
    l1_write_bytes: int = 0
    multicasts: int = 0
    multicast_bytes: int = 0
    atomics: int = 0
    read_barriers: int = 0
    write_barriers: int = 0
    most_reads_in_flight: int = 0
    tile_ops: Counter[str] = field(default_factory=Counter)
    cb_high_water: dict[int, int] = field(default_factory=dict)

    @staticmethod
    def of_core(report: Mapping[str, Any]) -> Counts:
        """The counts in the machine's report of one core."""
        plain = {f.name: report[f.name] for f in fields(Counts) if f.name not in ("tile_ops", "cb_high_water")}
        high_water = {int(k): v for k, v in report["cb_high_water"].items()}
        return Counts(**plain, tile_ops=Counter(report["tile_ops"]), cb_high_water=high_water)

    def add(self, other: Counts) -> None:
        """Take another core's counts into a total."""
        for f in fields(self):
            mine, theirs = getattr(self, f.name), getattr(other, f.name)
            if f.name == "most_reads_in_flight":
                self.most_reads_in_flight = max(mine, theirs)
            elif f.name == "cb_high_water":
                for cb, pages in theirs.items():
                    mine[cb] = max(mine.get(cb, 0), pages)
            elif f.name == "tile_ops":
                mine.update(theirs)
            else:
                setattr(self, f.name, mine + theirs)


@dataclass(frozen=True)
class ProgramCounts:
    """One run of a program: the total, each core by its logical (x, y), the time predicted for it, what happened when,
    where that was kept, and what it held of L1."""

    total: Counts
    cores: Mapping[tuple[int, int], Counts]
    predicted: Prediction
    timeline: Timeline | None = None
    l1: Sequence[L1Map] = ()

    @staticmethod
    def of_report(report: Mapping[str, Any], l1: Sequence[L1Map]) -> ProgramCounts:
        """The counts in the machine's report."""
        cores = {(r["core"][0], r["core"][1]): Counts.of_core(r) for r in report["cores"]}
        total = Counts()
        for counts in cores.values():
            total.add(counts)
        predicted = Prediction.of_report(report, total.dram_read_bytes + total.dram_write_bytes)
        timeline = Timeline.of_report(report["timeline"]) if "timeline" in report else None
        return ProgramCounts(total, cores, predicted, timeline, l1)
