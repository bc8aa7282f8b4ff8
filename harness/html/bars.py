"""A layer's time as a bar of its ops, in the order they run. Places and widths are of ROOM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness import costs
from harness.breakdown import Breakdown, OpLine

ROOM = 1000.0
LETTER = 7.2  # of ROOM, at the page's widest
# What binds an op, as a breakdown says it -> how the page says it; the op has a colour by it.
BINDS = {
    "bandwidth": "DRAM bandwidth",
    "reads": "waits for reads",
    "writes": "waits for writes",
    "compute": "compute",
    "RISC": "data-movement RISC",
    "semaphores": "waits for other cores",
    "latency": "latency of reads",
    "fixed": "launch, first tile, last write",
    "published": "published time: nobody told what binds",
}


@dataclass(frozen=True)
class Segment:
    """One op: its place, the text in it (empty where there is no room), all about it, and a key of `BINDS`."""

    x: float
    width: float
    label: str
    about: str
    kind: str


@dataclass(frozen=True)
class Bar:
    """One implementation by times of one origin; us of the whole."""

    name: str
    origin: str
    us: float
    end: float
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class Chart:
    """All bars on one scale. ticks: place and us. kinds: the colours in use, each with its name."""

    bars: tuple[Bar, ...]
    floor_us: float
    floor: float
    ticks: tuple[tuple[float, int], ...]
    kinds: dict[str, str]


def chart(right: Sequence[Breakdown]) -> Chart | None:
    """Bars of all that are right; None where nothing has a time op by op."""
    timed = [
        (us, b, draw) for b in right for us, draw in ((b.predicted_us, _predicted), (b.total_us, _published)) if us
    ]
    if not timed:
        return None
    floor = costs.floor_us(right[0].case, right[0].chip)
    longest = max(floor, *(us for us, _, _ in timed))
    scale = ROOM / (1.01 * longest)
    bars = tuple(draw(b, scale) for _, b, draw in timed)
    ticks = tuple((us * scale, us) for us in steps(longest))
    kinds = {s.kind for bar in bars for s in bar.segments}
    return Chart(bars, floor, floor * scale, ticks, {k: name for k, name in BINDS.items() if k in kinds})


def steps(longest: float) -> range:
    """Round numbers from 0 to `longest`, about ten of them."""
    step = next(s * 10**e for e in range(9) for s in (1, 2, 5) if s * 10**e * 12 >= longest)
    return range(0, int(longest) + 1, step)


def _predicted(b: Breakdown, scale: float) -> Bar:
    def about(line: OpLine) -> tuple[str, str]:
        p = line.predicted
        assert p, "the sum is known, so every op has a prediction"
        return p.binds, f"predicted; {BINDS[p.binds]}; {p.gb_s:.0f} GB/s of DRAM"

    return _bar(b, "predicted, not measured on silicon", scale, lambda line: line.predicted_us or 0.0, about)


def _published(b: Breakdown, scale: float) -> Bar:
    return _bar(b, b.origin or "", scale, lambda line: line.us or 0.0, lambda _: ("published", b.origin or ""))


def _bar(
    b: Breakdown,
    origin: str,
    scale: float,
    time: Callable[[OpLine], float],
    about: Callable[[OpLine], tuple[str, str]],
) -> Bar:
    segments, at = [], 0.0
    for n, line in enumerate(b.lines, 1):
        us = time(line)
        kind, more = about(line)
        what = "program of kernels" if line.counts else line.call.name
        label = line.label if us * scale > LETTER * len(line.label) + 6 else ""
        segments.append(Segment(at * scale, us * scale, label, f"{n} {line.label} ({what}): {us:.1f} us, {more}", kind))
        at += us
    return Bar(b.implementation, origin, at, at * scale, tuple(segments))
