"""Which memory captured traces use, and which buffers lie in its way.

A trace bakes in addresses. What its ops allocate and free during the capture lies, on every replay, in memory that was
free at the capture and that anybody may have been given since. A buffer allocated after a capture can so be overwritten
by a replay, or be read as what it is not. Neither ttnn nor the device says so; this does, before the replay.

The outputs of other captures may lie there: they hold until another trace runs over them, and reading one after that,
before its own trace has run again, is the error.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

PLUMBING = ("harness.targets", "harness.dtypes", "harness.expert.conversions")  # not who wanted a buffer


class Extent(NamedTuple):
    """Bytes [start, end) of every bank of a memory (`DRAM` or `L1`)."""

    memory: str
    start: int
    end: int

    def overlaps(self, other: Extent) -> bool:
        """Whether both have a byte in common."""
        return self.memory == other.memory and self.start < other.end and other.start < self.end

    @property
    def place(self) -> Place:
        """Where it starts."""
        return self.memory, self.start


Place = tuple[str, int]


class TraceHazard(RuntimeError):
    """A replay would run over a buffer, or a buffer is read that a replay has run over."""


@dataclass(frozen=True)
class Birth:
    """An allocation: when (a count), by which call where, and during which capture (None: during none)."""

    when: int
    what: str
    trace: Any


@dataclass
class Trace:
    """A captured trace.

    footprint   what its ops read and write
    end         when the capture ended, on the count of births; alive: the buffers there were then
    own         buffers allocated during the capture
    tramples    outputs of other captures that a replay runs over
    stale       whether anything was allocated since `tramples` was found
    """

    footprint: set[Extent] = field(default_factory=set)
    end: int = 0
    alive: frozenset[Extent] = frozenset()
    own: set[Place] = field(default_factory=set)
    tramples: set[Place] = field(default_factory=set)
    stale: bool = False


class TraceGuard:
    """Follows the calls of one device while there are traces. `live`: all buffers that are allocated now."""

    def __init__(self, live: Callable[[], Iterable[Extent]]) -> None:
        self._live = live
        self._count = itertools.count(1)
        self._traces: dict[Any, Trace] = {}
        self._capturing: Any = None
        self._births: dict[Place, Birth] = {}
        self._overwritten: dict[Place, Any] = {}

    @property
    def live_traces(self) -> int:
        """Traces captured, or under capture, and not released."""
        return len(self._traces)

    def begin(self, trace: Any) -> None:
        """A capture has started."""
        self._traces[trace] = Trace()
        self._capturing = trace

    def end(self, trace: Any) -> None:
        """A capture has ended."""
        captured = self._traces[trace]
        captured.end, captured.alive = next(self._count), frozenset(self._live())
        self._forget_freed(captured.alive)
        self._capturing = None

    def release(self, trace: Any) -> None:
        """A trace was given back."""
        self._traces.pop(trace, None)
        if not self._traces:
            self._births.clear()
            self._overwritten.clear()

    def called(self, name: str, inputs: set[Place], outputs: list[Any]) -> None:
        """A call on buffers at `inputs` has returned device tensors: new ones, unless they are among its inputs."""
        new = {_place(t): t for t in outputs if _place(t) not in inputs}
        for place, tensor in new.items():
            what = f"{getattr(tensor.dtype, 'name', tensor.dtype)} {list(tensor.shape)} from {name} at {_caller()}"
            self._births[place] = Birth(next(self._count), what, self._capturing)
            self._overwritten.pop(place, None)
        if new:
            for trace in self._traces.values():
                trace.stale = True
        if self._capturing is not None:
            captured = self._traces[self._capturing]
            captured.own |= set(new)
            captured.footprint |= {e for e in self._live() if e.place in inputs or e.place in new}

    def before_replay(self, trace: Any) -> None:
        """Raise `TraceHazard` if a buffer allocated after the capture lies where the trace works."""
        captured = self._traces.get(trace)
        if captured is None:
            return
        if captured.stale:
            captured.tramples = self._in_the_way(trace, captured)
            captured.stale = False
        for place in captured.own:
            self._overwritten.pop(place, None)
        self._overwritten.update(dict.fromkeys(captured.tramples, trace))

    def before_read(self, places: Iterable[Place]) -> None:
        """Raise `TraceHazard` if an output of a trace is to be read that another trace has run over."""
        for place in places if self._overwritten else ():
            if place in self._overwritten:
                raise TraceHazard(
                    f"{self._births[place].what} (address {place[1]:#x}) is read after trace "
                    f"{self._overwritten[place]} has run over it; read what a trace returns before another one runs"
                )

    def written(self, places: Iterable[Place]) -> None:
        """The host has written these buffers."""
        for place in places:
            self._overwritten.pop(place, None)

    def _in_the_way(self, trace: Any, captured: Trace) -> set[Place]:
        """Places of other captures' outputs that a replay runs over; `TraceHazard` on any other buffer there."""
        found, live = set(), frozenset(self._live())
        self._forget_freed(live)
        for extent in live:
            birth = self._births.get(extent.place)
            later = birth.when > captured.end if birth else extent not in captured.alive
            if not later or not any(extent.overlaps(e) for e in captured.footprint):
                continue
            if birth and birth.trace is not None:
                found.add(extent.place)
                continue
            what = birth.what if birth else f"a buffer of {extent.end - extent.start} B a bank"
            raise TraceHazard(
                f"{what} (address {extent.start:#x}) was allocated after trace {trace} was captured, in memory that "
                "this trace uses: a replay would overwrite it; allocate it before the capture, or release the trace"
            )
        return found

    def _forget_freed(self, live: Iterable[Extent]) -> None:
        there = {e.place for e in live}
        self._births = {place: birth for place, birth in self._births.items() if place in there}
        self._overwritten = {place: by for place, by in self._overwritten.items() if place in there}


def places(values: Iterable[Any]) -> set[Place]:
    """Where the device tensors among `values`, and in lists among them, lie."""
    return {_place(t) for t in device_tensors(values)}


def device_tensors(values: Iterable[Any]) -> list[Any]:
    """The allocated device tensors among `values`, and in lists among them."""
    flat = [v for value in values for v in (value if isinstance(value, (list, tuple)) else (value,))]
    return [v for v in flat if hasattr(v, "buffer_address") and v.device() is not None and v.is_allocated()]


def _place(tensor: Any) -> Place:
    return tensor.memory_config().buffer_type.name, tensor.buffer_address()


def _caller() -> str:
    """File and line of who wanted the buffer."""
    frame = sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(PLUMBING):
        frame = frame.f_back
    return f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}"
