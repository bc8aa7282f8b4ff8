"""Ranges of cores, as ttnn describes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.emulator.ttnn.types import CoreCoord, core_coord


@dataclass(frozen=True)
class CoreRange:
    """The rectangle of cores from ``start`` to ``end``, both included."""

    start: CoreCoord
    end: CoreCoord

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", core_coord(self.start))
        object.__setattr__(self, "end", core_coord(self.end))
        if self.end.x < self.start.x or self.end.y < self.start.y:
            raise RuntimeError(f"Invalid core range for start_coord: {self.start}, end_coord: {self.end}")

    def __iter__(self) -> Iterator[CoreCoord]:
        for y in range(self.start.y, self.end.y + 1):
            for x in range(self.start.x, self.end.x + 1):
                yield CoreCoord(x, y)

    def __repr__(self) -> str:
        return f"[{self.start} - {self.end}]"

    def contains(self, other: CoreCoord | CoreRange) -> bool:
        """Whether a core, or every core of a range, lies in this one."""
        first, last = (other.start, other.end) if isinstance(other, CoreRange) else (other, other)
        return self.start.x <= first.x and self.start.y <= first.y and last.x <= self.end.x and last.y <= self.end.y

    def grid_size(self) -> CoreCoord:
        """Columns and rows."""
        return CoreCoord(self.end.x - self.start.x + 1, self.end.y - self.start.y + 1)


class CoreRangeSet:
    """Disjoint ranges of cores, in the order given."""

    def __init__(self, core_ranges: Iterable[CoreRange] | CoreRange = ()) -> None:
        self._ranges = [core_ranges] if isinstance(core_ranges, CoreRange) else list(core_ranges)
        seen: dict[CoreCoord, CoreRange] = {}
        for r in self._ranges:
            for core in r:
                if core in seen:
                    raise RuntimeError(
                        "Cannot create CoreRangeSet with specified core ranges because core ranges "
                        f"{seen[core]} and {r} overlap!"
                    )
                seen[core] = r
        self._cores = list(seen)

    def __iter__(self) -> Iterator[CoreCoord]:
        return iter(self._cores)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CoreRangeSet) and set(self._cores) == set(other._cores)

    def __hash__(self) -> int:
        return hash(frozenset(self._cores))

    def __repr__(self) -> str:
        return "{" + ", ".join(map(str, self._ranges)) + "}"

    def ranges(self) -> list[CoreRange]:
        """The ranges."""
        return list(self._ranges)

    def num_cores(self) -> int:
        """Cores in all ranges together."""
        return len(self._cores)

    def size(self) -> int:
        """Number of ranges."""
        return len(self._ranges)

    def empty(self) -> bool:
        """Whether there is no core."""
        return not self._cores

    def contains(self, other: CoreCoord | CoreRange | CoreRangeSet) -> bool:
        """Whether a core, or every core of a range or set, is in this set."""
        cores = [other] if isinstance(other, CoreCoord) else list(other)
        return set(cores) <= set(self._cores)

    def bounding_box(self) -> CoreRange:
        """The smallest rectangle around all cores."""
        xs, ys = [c.x for c in self._cores], [c.y for c in self._cores]
        return CoreRange(CoreCoord(min(xs), min(ys)), CoreCoord(max(xs), max(ys)))

    def merge(self, other: CoreRangeSet) -> CoreRangeSet:
        """Both sets together."""
        mine = set(self._cores)
        return CoreRangeSet([*self._ranges, *(CoreRange(c, c) for c in other if c not in mine)])

    def subtract(self, other: CoreRangeSet) -> CoreRangeSet:
        """The cores of this set that are not in ``other``."""
        gone = set(other)
        return CoreRangeSet([CoreRange(c, c) for c in self._cores if c not in gone])
