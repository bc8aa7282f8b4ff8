"""Timelines of programs: what the threads of the slowest and of a middling core do when, and what DRAM moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from harness.breakdown import Breakdown
from harness.emulator.programs import ProgramCounts, Timeline
from harness.html.bars import LETTER, ROOM, steps
from harness.timeline import THREADS, slices

COLUMNS = 500  # a timeline has so many; each shows what its thread did longest in it
# Categories of a thread's time, in the order of the legend; classes of the style sheet by their index.
DOES = (
    "running",
    "wait: read",
    "wait: write",
    "wait: semaphore",
    "wait: CB empty",
    "wait: CB full",
    "wait: registers",
    "wait: start",
)


@dataclass(frozen=True)
class Row:
    """A thread: its phases (place, width, text, all about it), and for each thing it does the path of its blocks,
    in columns and a height of 1."""

    name: str
    phases: tuple[tuple[float, float, str, str], ...]
    paths: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Program:
    """One program. dram: polylines over COLUMNS of what is read and written, and the highest GB/s of both."""

    title: str
    rows: tuple[Row, ...]
    ticks: tuple[tuple[float, int], ...]
    dram: tuple[str, str]
    dram_top: float


def programs(b: Breakdown) -> list[Program]:
    """Those of a layer that kept their timelines, in order."""
    kept = [(n, line.label, line.counts) for n, line in enumerate(b.lines, 1) if line.counts]
    return [_program(f"{n} {label}", counts, counts.timeline) for n, label, counts in kept if counts.timeline]


def _program(title: str, counts: ProgramCounts, timeline: Timeline) -> Program:
    p = counts.predicted
    ends = {core: max(t.end for t in p.cores[core].values()) for core in timeline.cores}
    most = max(len(threads) for threads in timeline.cores.values())
    by_end = sorted((core for core, threads in timeline.cores.items() if len(threads) == most), key=ends.__getitem__)
    last, us = p.cycles, p.cycles / p.clock_mhz
    shown = list(dict.fromkeys((by_end[-1], by_end[len(by_end) // 2])))
    rows = []
    for x, y in shown:
        for name in THREADS:
            if name in timeline.cores[x, y]:
                spans = list(slices(timeline.cores[x, y][name], p.cores[x, y][name].end))
                phases = tuple(_phases([s[:3] for s in spans if s[3] == "phase"], last, p.clock_mhz))
                does = [(s[0], s[1], DOES.index(s[2])) for s in spans if s[3] != "phase"]
                rows.append(Row(f"({x},{y}) {name}", phases, tuple(_paths(does, last))))
    read, written = (
        _rates(slots, timeline.slot_cycles, last, p.clock_mhz) for slots in (timeline.dram_read, timeline.dram_written)
    )
    top = max(float(read.max()), float(written.max()), 1.0)
    ticks = tuple((t * ROOM / us, t) for t in steps(us))
    of = f"the slowest of {len(by_end)} cores, and the one in the middle" if len(shown) > 1 else "its core"
    about = f"{title}: {of}; {us:.1f} us after a launch of {p.launch_cycles / p.clock_mhz:.1f}"
    return Program(about, tuple(rows), ticks, (_line(read, top), _line(written, top)), top)


def _phases(spans: Sequence[tuple[int, int, str]], last: int, mhz: int) -> Iterator[tuple[float, float, str, str]]:
    for begin, end, name in spans:
        width = (end - begin) * ROOM / last
        label = name if width > LETTER * len(name) else ""
        if width >= ROOM / COLUMNS:  # a narrower one shows nothing
            yield begin * ROOM / last, width, label, f"{name}: {begin / mhz:.1f} to {end / mhz:.1f} us"


def _paths(does: Sequence[tuple[int, int, int]], last: int) -> Iterator[tuple[int, str]]:
    """For each thing done, the columns in which nothing else is done longer, as one path."""
    share = np.zeros((len(DOES), COLUMNS))
    for begin, end, what in does:
        edges = np.clip(np.array([begin, end]) * COLUMNS / last, 0, COLUMNS)
        first, stop = int(edges[0]), min(int(np.ceil(edges[1])), COLUMNS)
        columns = np.arange(first, stop)
        share[what, first:stop] += np.minimum(columns + 1, edges[1]) - np.maximum(columns, edges[0])
    winner = np.where(share.sum(0) > 0, share.argmax(0), -1)
    starts = np.flatnonzero(np.diff(winner, prepend=-2))
    runs = list(zip(starts, [*starts[1:], COLUMNS], winner[starts], strict=True))
    for what in sorted({int(w) for w in winner if w >= 0}):
        yield what, "".join(f"M{a} 0h{b - a}v1h-{b - a}z" for a, b, w in runs if w == what)


def _rates(slots: Sequence[int], slot_cycles: int, last: int, mhz: int) -> np.ndarray:
    """GB/s in each column: the bytes moved until its end less those until its begin."""
    moved = np.concatenate([[0.0], np.cumsum(slots, dtype=float)])
    edges = np.linspace(0, last, COLUMNS + 1)
    until = np.interp(edges, np.arange(len(moved)) * slot_cycles, moved)
    return np.diff(until) / (last / COLUMNS / mhz) / 1e3


def _line(rates: np.ndarray, top: float) -> str:
    """Points of a polyline, upwards in a height of 100."""
    return " ".join(f"{i},{100 - 100 * r / top:.0f}" for i, r in enumerate(rates))
