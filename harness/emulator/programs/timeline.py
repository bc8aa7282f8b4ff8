"""What each thread of a program did when, in cycles of virtual time; predicted, never measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from harness.emulator.programs.faults import Location, lines_of


class Wait(NamedTuple):
    """Cycles that a thread stood still and what it waited for (as in ``ThreadTime``). ``at``: the lines of the kernel,
    from the innermost to the one that called it; empty where they are not known."""

    begin: int
    end: int
    why: str
    at: tuple[Location, ...]


class Phase(NamedTuple):
    """A phase that the kernel names by ``DeviceZoneScopedN``. Phases of a thread nest."""

    begin: int
    end: int
    name: str


@dataclass(frozen=True)
class ThreadSpans:
    """One thread: its waits in order, and its phases in the order of their begins. In between it runs."""

    waits: tuple[Wait, ...]
    phases: tuple[Phase, ...]


@dataclass(frozen=True)
class Timeline:
    """Of one run. ``cores``: by logical (x, y), the threads by name. ``dram_read``, ``dram_written``: bytes in each
    slot of ``slot_cycles``."""

    cores: Mapping[tuple[int, int], Mapping[str, ThreadSpans]]
    slot_cycles: int
    dram_read: tuple[int, ...]
    dram_written: tuple[int, ...]

    @staticmethod
    def of_report(report: Mapping[str, Any]) -> Timeline:
        """The timeline in the machine's report."""
        causes, names = report["causes"], report["names"]
        places = [tuple(lines) for lines in lines_of(report["places"])]
        cores: dict[tuple[int, int], dict[str, ThreadSpans]] = {}
        for thread in report["threads"]:
            waits = tuple(Wait(begin, end, causes[why], places[at]) for begin, end, why, at in thread["waits"])
            phases = tuple(Phase(begin, end, names[name]) for begin, end, name in thread["phases"])
            x, y = thread["core"]
            cores.setdefault((x, y), {})[thread["thread"]] = ThreadSpans(waits, phases)
        read, written = tuple(report["dram_read"]), tuple(report["dram_written"])
        return Timeline(cores, report["slot_cycles"], read, written)
