"""The time a program would take on a Blackhole, predicted from the emulator's virtual time; never measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ThreadTime:
    """One thread of a core: cycles from the program's start to its end, and those it stood still, by what it
    waited for: "read", "write" (transfers), "CB full", "CB empty", "semaphore", "registers" (in Tensix), "start"
    (compute threads begin later than data movement)."""

    end: int
    stalls: Mapping[str, int]

    @property
    def running(self) -> int:
        """Cycles in which it did not stand still."""
        return self.end - sum(self.stalls.values())


@dataclass(frozen=True)
class Prediction:
    """Of one run. ``launch_cycles``: from the end of the program before to this one's start. ``cores``: by logical
    (x, y), the threads by name. ``dram_bytes``: read and written; ``dram_once_bytes``: the same, but what was read (or
    written) again counts once. Constants and their sources: ``native/machine/timing.h``."""

    clock_mhz: int
    launch_cycles: int
    dram_bytes: int
    dram_once_bytes: int
    cores: Mapping[tuple[int, int], Mapping[str, ThreadTime]]

    @property
    def slowest(self) -> tuple[int, int]:
        """The core whose last thread ends last."""
        return max(self.cores, key=lambda core: max(t.end for t in self.cores[core].values()))

    @property
    def cycles(self) -> int:
        """The end of the slowest thread."""
        return max(t.end for t in self.cores[self.slowest].values())

    @property
    def us(self) -> float:
        """Launch and program, in microseconds."""
        return (self.launch_cycles + self.cycles) / self.clock_mhz

    @property
    def dram_gb_s(self) -> float:
        """Bytes read from and written to DRAM, over ``us``."""
        return self.dram_bytes / self.us / 1e3

    @staticmethod
    def of_report(report: Mapping[str, Any], dram_bytes: int) -> Prediction:
        """The prediction in the machine's report."""
        cores = {
            (core["core"][0], core["core"][1]): {
                name: ThreadTime(times["end"], {k: v for k, v in times.items() if k != "end"})
                for name, times in core["threads"].items()
            }
            for core in report["cores"]
        }
        clock, launch, once = (report[name] for name in ("clock_mhz", "launch_cycles", "dram_once_bytes"))
        return Prediction(clock, launch, dram_bytes, once, cores)
