"""What a program's circular buffers and semaphores take of the L1 of its cores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from harness.emulator.programs.descriptors import ProgramDescriptor
from harness.emulator.ttnn.types import CoreCoord


@dataclass(frozen=True)
class PlacedCb:
    """A circular buffer: its indices (several share its memory), ttnn's names of their formats, first byte, bytes."""

    indices: tuple[int, ...]
    formats: tuple[str, ...]
    address: int
    bytes: int


@dataclass(frozen=True)
class L1Map:
    """Cores, by logical (x, y), that hold the same: circular buffers from the lowest on, ids of semaphores. free: bytes
    between the highest buffer and the lowest tensor or the end of L1."""

    cores: tuple[tuple[int, int], ...]
    cbs: tuple[PlacedCb, ...]
    semaphores: tuple[int, ...]
    free: int


def l1_maps(program: ProgramDescriptor, addresses: Sequence[int], base: int, limit: int) -> tuple[L1Map, ...]:
    """The maps of all cores of a program. addresses: of its circular buffers, which lie between `base` and `limit`."""
    on: defaultdict[CoreCoord, tuple[list[PlacedCb], list[int]]] = defaultdict(lambda: ([], []))
    for address, cb in zip(addresses, program.cbs, strict=True):
        formats = cb.format_descriptors
        names = tuple(f.data_format.name for f in formats)
        placed = PlacedCb(tuple(f.buffer_index for f in formats), names, address, cb.total_size)
        for core in cb.core_ranges:
            on[core][0].append(placed)
    for semaphore in program.semaphores:
        for core in semaphore.core_ranges:
            on[core][1].append(semaphore.id)
    alike: defaultdict[tuple[tuple[PlacedCb, ...], tuple[int, ...]], list[CoreCoord]] = defaultdict(list)
    for core, (cbs, ids) in on.items():
        alike[tuple(sorted(cbs, key=lambda cb: cb.address)), tuple(sorted(ids))].append(core)
    return tuple(
        L1Map(
            tuple((core.x, core.y) for core in cores),
            cbs,
            ids,
            limit - max((cb.address + cb.bytes for cb in cbs), default=base),
        )
        for (cbs, ids), cores in alike.items()
    )
