"""A layer's predicted times as a trace for Perfetto or chrome://tracing: programs of kernels thread by thread, the ops
that have only a cost model as blocks, all in order.

A process is a program, a track a thread of a core. Slices of a track nest: phases that the kernel names, in them what
the thread ran or waited for.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from harness.breakdown import Breakdown, OpLine
from harness.emulator.programs import ProgramCounts, ThreadSpans

Event = dict[str, Any]
OPS = "ttnn ops (cost model)"
RUNNING = "running"
LABEL = "predicted, not measured on silicon"
LAUNCH_TRACK = 1
THREADS = ("RISCV_1", "unpack", "math", "pack", "RISCV_0")  # the way data takes


def trace(breakdowns: Sequence[Breakdown]) -> dict[str, Any]:
    """The trace of one or more implementations, each from time 0; ts and dur are us."""
    pids = count(1)
    events = [event for b in breakdowns for event in _layer(b, pids)]
    first = breakdowns[0]
    about = {"times": LABEL, "chip": first.chip.name, "calibration": first.chip.calibration, "case": str(first.case)}
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": about}


def _layer(b: Breakdown, pids: Iterator[int]) -> Iterator[Event]:
    ops = next(pids)
    yield from _process(ops, f"{b.implementation}: {OPS}, {LABEL}")
    yield _meta(ops, "thread_name", LAUNCH_TRACK, OPS)
    us = 0.0
    for n, line in enumerate(b.lines, 1):
        if line.counts:
            pid = next(pids)
            yield from _process(pid, f"{b.implementation}: {n} {line.label}, {LABEL}")
            yield from _program(line.counts, pid, us)
        else:
            yield _block(line, ops, us)
        us += line.predicted_us or 0.0


def _block(line: OpLine, pid: int, us: float) -> Event:
    """An op without a program of its own; one that nobody can predict takes no time."""
    p = line.predicted
    about = {"binds": p.binds, "DRAM GB/s": round(p.gb_s), "predicted us": round(p.us, 1)} if p else {"predicted": "no"}
    return _slice(line.label, "op", pid, LAUNCH_TRACK, round(us * 1e3), round((us + (p.us if p else 0.0)) * 1e3), about)


def _program(counts: ProgramCounts, pid: int, us: float) -> Iterator[Event]:
    """A launch, and the threads of each core from then on."""
    p, timeline = counts.predicted, counts.timeline
    assert timeline, "the program ran without keeping its timeline"
    start = us + p.launch_cycles / p.clock_mhz

    def ns(cycles: int) -> int:
        return round((start + cycles / p.clock_mhz) * 1e3)

    yield _meta(pid, "thread_name", LAUNCH_TRACK, "launch")
    yield _slice("launch", "launch", pid, LAUNCH_TRACK, round(us * 1e3), ns(0), {})
    slot_us = timeline.slot_cycles / p.clock_mhz
    slots = max(len(timeline.dram_read), len(timeline.dram_written))
    for i in range(slots + 1):
        moved = {
            name: round(values[i] / slot_us / 1e3, 1) if i < len(values) else 0
            for name, values in (("read", timeline.dram_read), ("written", timeline.dram_written))
        }
        yield {"ph": "C", "name": "DRAM GB/s", "pid": pid, "ts": ns(i * timeline.slot_cycles) / 1e3, "args": moved}
    tids = count(LAUNCH_TRACK + 1)
    for (x, y), threads in timeline.cores.items():
        for name in THREADS:
            if name not in threads:
                continue
            tid = next(tids)
            yield _meta(pid, "thread_name", tid, f"({x},{y}) {name}")
            yield {"ph": "M", "name": "thread_sort_index", "pid": pid, "tid": tid, "args": {"sort_index": tid}}
            for begin, end, what, category, about in slices(threads[name], p.cores[x, y][name].end):
                yield _slice(what, category, pid, tid, ns(begin), ns(end), about)


def slices(thread: ThreadSpans, end: int) -> Iterator[tuple[int, int, str, str, Event]]:
    """Begin, end, name, category and details of all that a thread did until `end`: phases, and in them waits and what
    lies between. An outer slice comes before what it holds."""
    edges = sorted({0, end, *(t for p in thread.phases for t in p[:2])})
    waits, at = iter(thread.waits), 0
    wait = next(waits, None)
    inner: list[tuple[int, int, str, str, Event]] = []
    while at < end:
        if wait and wait.begin == at:
            if wait.end > at:
                lines = {"in the kernel": ", called at ".join(map(str, wait.at))} if wait.at else {}
                inner.append((at, wait.end, f"wait: {wait.why}", "wait", lines))
            at, wait = wait.end, next(waits, None)
            continue
        # A wait lies in one call, and so in one phase; what runs may go on into the next.
        until = min(wait.begin if wait else end, edges[bisect_right(edges, at)])
        inner.append((at, until, RUNNING, RUNNING, {}))
        at = until
    outer = [(begin, stop, name, "phase", Event()) for begin, stop, name in thread.phases if stop > begin]
    yield from sorted([*outer, *inner], key=lambda s: (s[0], -s[1], s[3] != "phase"))


def _process(pid: int, name: str) -> Iterator[Event]:
    yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
    yield {"ph": "M", "name": "process_sort_index", "pid": pid, "tid": 0, "args": {"sort_index": pid}}


def _meta(pid: int, kind: str, tid: int, name: str) -> Event:
    return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": {"name": name}}


def _slice(name: str, category: str, pid: int, tid: int, begin_ns: int, end_ns: int, about: Event) -> Event:
    """A complete event. Begin and end are rounded to ns before the duration is taken, so that slices nest exactly."""
    event = {"ph": "X", "name": name, "cat": category, "pid": pid, "tid": tid}
    event |= {"ts": begin_ns / 1e3, "dur": (end_ns - begin_ns) / 1e3}
    return {**event, "args": about} if about else event
