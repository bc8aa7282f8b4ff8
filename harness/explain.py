"""Why a layer takes as long as predicted: its ops, slowest first, and where the threads of its programs wait."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.breakdown import Breakdown, OpLine
from harness.emulator.programs import Location, ProgramCounts, ThreadSpans, Timeline

RUNNING = "running"
WHOLE = "whole program"
# What may decide, the nearest to the root first: a thread's own work and what comes from outside its core; its
# siblings; what unpack, math and pack only pass on. Less than such a share of the time leaves it to the next. In a
# phase the thread that is waited for may be missing, so there it takes more.
TIERS = (("read", "write", "semaphore", RUNNING), ("CB full", "CB empty"), ("registers", "start"))
DECIDES, DECIDES_PHASE = 0.25, 0.5

# By what binds: what it means, and what usually helps.
OPS = {
    "fixed": "launch, first tile and last write take longer than the work; fuse it with its neighbours",
    "latency": "one core's reads follow each other; more reads in flight, or more cores",
    "bandwidth": "DRAM gives no more to readers placed anywhere; fewer bytes, or each reader next to its bank",
    "compute": "the busiest core computes all the time; more cores, fewer passes, lower fidelity",
}
CAUSES = {
    "read": "stands still until reads arrive; more or larger reads before a barrier, the next block read while this "
    "one is computed, readers next to their banks",
    "write": "stands still until writes have left or arrived; a flush instead of a barrier, one barrier at the end, "
    "another thread for what follows",
    "semaphore": "waits for other cores; send earlier, send less, do own work meanwhile; the sender's phase has the "
    "cause",
    "CB full": "waits for its consumer, whose row has the cause; a deeper buffer helps only where rates vary",
    "CB empty": "waits for its producer, whose row has the cause; start the producer earlier, or push smaller blocks",
    "registers": "unpack, math and pack take turns; more tiles a hand-over of DEST, less work for the one that runs "
    "most",
    "start": "starts later than data movement does; let the reads go on meanwhile, or fuse with the neighbours",
}
BUSY = {
    "unpack": "unpacks all the time; smaller formats, fewer trips of a tile through L1",
    "math": "computes all the time; lower fidelity, fewer operations a tile, more cores",
    "pack": "packs all the time; smaller formats, keep tiles in DEST, accumulate in L1",
    "RISCV_0": "the RISC itself is busy; fewer and larger transfers, no copying word by word",
}
BUSY["RISCV_1"] = BUSY["RISCV_0"]


@dataclass(frozen=True)
class ThreadShare:
    """One thread in a phase: predicted us, and the share of them by what it did (`running` or a wait's cause)."""

    thread: str
    us: float
    shares: Mapping[str, float]


@dataclass(frozen=True)
class PhaseShare:
    """A phase on the core where it takes longest.

    cause    what decides: `running`, or what is waited for; thread: whose
    at       the line of the kernel where most of a wait is spent; empty for `running`
    meaning  in words
    """

    name: str
    core: tuple[int, int]
    us: float
    threads: tuple[ThreadShare, ...]
    cause: str
    thread: str
    at: str
    meaning: str


@dataclass(frozen=True)
class OpShare:
    """An op: its number in the layer, predicted us (None: nobody can say), share of the layer, and why."""

    number: int
    label: str
    us: float | None
    share: float | None
    binds: str
    meaning: str
    phases: tuple[PhaseShare, ...]


def explain(b: Breakdown) -> list[OpShare]:
    """The ops of a layer whose programs kept their timelines, slowest first."""
    total = sum(line.predicted_us or 0.0 for line in b.lines)
    ops = [_op(n, line, total) for n, line in enumerate(b.lines, 1)]
    return sorted(ops, key=lambda op: -(op.us or 0.0))


def _op(number: int, line: OpLine, total: float) -> OpShare:
    if line.predicted is None:
        return OpShare(number, line.label, None, None, "-", "no cost model", ())
    us, binds = line.predicted.us, line.predicted.binds
    phases = tuple(phases_of(line.counts)) if line.counts else ()
    meaning = OPS[binds] if not line.counts else _launch(line.counts) or phases[0].meaning
    return OpShare(number, line.label, us, us / total, binds, meaning, phases)


def _launch(counts: ProgramCounts) -> str:
    p = counts.predicted
    share = p.launch_cycles / (p.launch_cycles + p.cycles)
    return f"the launch alone takes {share:.0%}; {OPS['fixed'].partition('; ')[2]}" if share > 0.5 else ""


def phases_of(counts: ProgramCounts) -> Iterator[PhaseShare]:
    """The whole program, then its phases, slowest first."""
    timeline, p = counts.timeline, counts.predicted
    assert timeline, "the program ran without keeping its timeline"
    whole = {name: [(0, times.end)] for name, times in p.cores[p.slowest].items()}
    yield _phase(WHOLE, p.slowest, whole, timeline, p.clock_mhz)
    phases = []
    for name, by_core in _by_name(timeline).items():
        core = max(by_core, key=lambda c: max(map(_length, by_core[c].values())))
        phases.append(_phase(name, core, by_core[core], timeline, p.clock_mhz))
    yield from sorted(phases, key=lambda phase: -phase.us)


Spans = dict[str, list[tuple[int, int]]]  # by thread: begin and end of each time in a phase


def _by_name(timeline: Timeline) -> dict[str, dict[tuple[int, int], Spans]]:
    names: dict[str, dict[tuple[int, int], Spans]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for core, threads in timeline.cores.items():
        for thread, spans in threads.items():
            for begin, end, name in spans.phases:
                names[name][core][thread].append((begin, end))
    return names


def _length(spans: list[tuple[int, int]]) -> int:
    return sum(end - begin for begin, end in spans)


def _phase(name: str, core: tuple[int, int], spans: Spans, timeline: Timeline, mhz: int) -> PhaseShare:
    threads: list[ThreadShare] = []
    cycles: dict[tuple[str, str], int] = {}  # by cause and thread
    places: dict[tuple[str, str], Counter[Location]] = defaultdict(Counter)
    for thread, times in spans.items():
        waited = _waited(timeline.cores[core][thread], times)
        by_cause: Counter[str] = Counter()
        for (cause, at), n in waited.items():
            by_cause[cause] += n
            if at:
                places[cause, thread][at] += n
        length = _length(times)
        by_cause[RUNNING] = length - sum(by_cause.values())
        cycles |= {(cause, thread): n for cause, n in by_cause.items()}
        threads.append(ThreadShare(thread, length / mhz, {c: n / max(length, 1) for c, n in by_cause.items()}))
    longest = max(map(_length, spans.values()))
    least = longest * (DECIDES if name == WHOLE else DECIDES_PHASE)
    for tier in TIERS:
        key = max((k for k in cycles if k[0] in tier), key=cycles.__getitem__, default=None)
        if key and cycles[key] >= least:
            cause, thread = key
            break
    else:
        cause, thread = max(cycles, key=cycles.__getitem__)
    at = max(places[cause, thread], key=places[cause, thread].__getitem__, default=None)
    words = BUSY[thread] if cause == RUNNING else CAUSES[cause]
    line = f"{at} {at.text}".strip() if at else ""
    return PhaseShare(name, core, longest / mhz, tuple(threads), cause, thread, line, f"{thread}: {words}")


def _waited(thread: ThreadSpans, times: list[tuple[int, int]]) -> Counter[tuple[str, Location | None]]:
    """Cycles by cause and line that a thread waited within `times`, which are in order and apart."""
    found: Counter[tuple[str, Location | None]] = Counter()
    spans = iter(times)
    span = next(spans, None)
    for wait in thread.waits:
        while span and span[1] <= wait.begin:
            span = next(spans, None)
        if not span:
            break
        if wait.begin >= span[0]:
            found[wait.why, wait.at[-1] if wait.at else None] += wait.end - wait.begin
    return found
