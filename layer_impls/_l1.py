"""Circular buffers of a program of several blocks: those that are never in use at the same time share memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import lcm

from harness.dtypes import TILE_BYTES
from layer_impls._program import Cb, Shared


@dataclass(frozen=True)
class Use:
    """A circular buffer and when a core may have something in it.

    first, last: blocks of the program, by number; last < first: from one turn into the next. What other cores write is
    in use from the first block on in which one of them can. cores: of which kind they are (all: None); kinds exclude
    each other. wraps: it is filled more than once in a turn, so that it has to end where its memory does. stream: its
    slots may be as many as there is room for; so many tiles each.
    """

    cb: Cb
    first: int
    last: int
    cores: str | None = None
    wraps: bool = True
    stream: int = 0

    @property
    def unit(self) -> int:
        """Its memory has to be a multiple of so many bytes."""
        tile = TILE_BYTES[self.cb.dtype]
        return tile * self.stream if self.stream else self.cb.bytes if self.wraps else tile

    def clashes(self, other: Use) -> bool:
        """Whether both can be in use at once."""
        at_once = other.during(self.first) or self.during(other.first)
        return at_once and (self.cores is None or other.cores is None or self.cores == other.cores)

    def during(self, block: int) -> bool:
        """Whether it is in use in a block."""
        after, before = self.first <= block, block <= self.last
        return after and before if self.first <= self.last else after or before


def share(uses: Iterable[Use], budget: int) -> list[Shared]:
    """Memory for all of them, the largest first; what is left of `budget` bytes goes to streams, where it is enough.

    Each joins the buffers where it costs least, of those the smallest; if that is no gain, it has memory of its own.
    """
    places: list[list[Use]] = []
    for use in sorted(uses, key=lambda use: -use.cb.bytes):
        free = [place for place in places if not any(use.clashes(other) for other in place)]
        cost = {id(place): _bytes([*place, use]) - _bytes(place) for place in free}
        best = min(free, key=lambda place: (cost[id(place)], _bytes(place)), default=None)
        if best is None or cost[id(best)] >= use.cb.bytes:
            places.append([use])
        else:
            best.append(use)
    shared = [Shared(tuple(use.cb for use in place), _bytes(place)) for place in places]
    left = budget - sum(s.bytes for s in shared)
    for i, place in enumerate(places):
        more = max(0, left) // _unit(place) * _unit(place) if any(use.stream for use in place) else 0
        shared[i] = Shared(shared[i].cbs, shared[i].bytes + more)
        left -= more
    return shared


def _unit(place: list[Use]) -> int:
    return lcm(*(use.unit for use in place))


def _bytes(place: list[Use]) -> int:
    return -(-max(use.cb.bytes for use in place) // _unit(place)) * _unit(place)
