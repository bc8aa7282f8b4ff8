"""Programs for `generic_op`: descriptors are built once, tensor addresses are renewed at every launch."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import kernels
from harness.dtypes import TILE_BYTES, device_dtype
from harness.errors import UsageError

CB_BUDGET = 1_400_000  # bytes of a core's L1 for circular buffers

Core = tuple[int, int]


@dataclass(frozen=True)
class Rectangle:
    """Cores (x, y) .. (x + width - 1, y + height - 1) of the worker grid."""

    x: int
    y: int
    width: int
    height: int

    @property
    def cores(self) -> list[Core]:
        """All cores, row by row."""
        return [(self.x + i % self.width, self.y + i // self.width) for i in range(self.width * self.height)]

    @property
    def last(self) -> Core:
        """The core opposite to the first."""
        return self.x + self.width - 1, self.y + self.height - 1


def first_cores(grid: Any, n: int) -> list[Rectangle]:
    """The first n cores of the grid, row by row: its full rows, and what is left over."""
    rows, rest = divmod(n, grid.x)
    full = [Rectangle(0, 0, grid.x, rows)] if rows else []
    return full + ([Rectangle(0, rows, rest, 1)] if rest else [])


@dataclass(frozen=True)
class Cb:
    """A circular buffer: its index, format and capacity in tiles."""

    index: int
    dtype: str
    tiles: int

    @property
    def bytes(self) -> int:
        """L1 it takes on each core."""
        return self.tiles * TILE_BYTES[self.dtype]

    @property
    def cbs(self) -> tuple[Cb, ...]:
        """Those that lie there: itself."""
        return (self,)


@dataclass(frozen=True)
class Shared:
    """Circular buffers that begin at one address; each has all of the bytes, whole pages of it."""

    cbs: tuple[Cb, ...]
    bytes: int


def buffers(dtype: str, tiles: Mapping[int, int]) -> list[Cb]:
    """Circular buffers of one format. tiles: capacity by index."""
    return [Cb(index, dtype, n) for index, n in tiles.items()]


def check_l1(what: str, cbs: Iterable[Cb | Shared]) -> None:
    """Raise `UsageError` unless the circular buffers that `what` needs on one core fit its L1."""
    if (need := sum(cb.bytes for cb in cbs)) > CB_BUDGET:
        raise UsageError(f"{what} takes {need} B of a core's L1, and at most {CB_BUDGET} B fit")


@dataclass(frozen=True)
class Kernel:
    """Args of one kernel that no launch changes: compile-time, and runtime by core."""

    compile_time: Sequence[int]
    runtime: Mapping[Core, Sequence[int]] = field(default_factory=dict)


def fp32_bits(value: float) -> int:
    """The word that holds `value` as an fp32."""
    bits: int = struct.unpack("<I", struct.pack("<f", value))[0]
    return bits


def accessor_args(ttnn: Any, *tensors: Any) -> list[int]:
    """Compile-time args of the kernels' TensorAccessors; they hold no address."""
    return [word for tensor in tensors for word in ttnn.TensorAccessorArgs(tensor).get_compile_time_args()]


def empty_tile_tensor(ttnn: Any, device: Any, shape: Sequence[int]) -> Any:
    """An uninitialised bf16 TILE tensor in DRAM."""
    return ttnn.allocate_tensor_on_device(
        ttnn.Shape(list(shape)), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, ttnn.DRAM_MEMORY_CONFIG
    )


@dataclass(frozen=True)
class Team:
    """Cores of a program that run the same kernels, `files` + `reader.cpp`, `compute.cpp` and `writer.cpp`.

    cbs: circular buffers on these cores. fidelity, full_sync: of compute, which has an fp32 DEST.
    """

    cores: Sequence[Rectangle]
    cbs: Sequence[Cb]
    reader: Kernel
    compute: Kernel
    writer: Kernel
    fidelity: str = "HiFi4"
    full_sync: bool = False
    files: str = ""


class Program:
    """Kernels of a folder of `kernels/`, on teams of cores; what one waits for from another comes later in the list.

    everywhere: circular buffers on all cores of `reach`, below all others and so at the same addresses; `reach` has the
    semaphores too (default: the cores of the last team). Cores of it without a kernel are there for multicasts.

    Addresses travel as common runtime args, the same to all teams. At every launch ttnn 0.81.1 writes the runtime args
    of the descriptor it is given, on a program-cache hit too; so whatever moved between two launches is found where it
    is. (It looks at nothing else: neither at the tensors' addresses nor at args that were different when the program
    was compiled.)
    """

    def __init__(
        self,
        ttnn: Any,
        folder: str,
        teams: Sequence[Team],
        semaphores: int = 0,
        reach: Sequence[Rectangle] | None = None,
        everywhere: Sequence[Cb | Shared] = (),
    ) -> None:
        self.ttnn = ttnn
        reach = reach or teams[-1].cores

        def core_ranges(rectangles: Sequence[Rectangle]) -> Any:
            return ttnn.CoreRangeSet(
                [ttnn.CoreRange(ttnn.CoreCoord(r.x, r.y), ttnn.CoreCoord(*r.last)) for r in rectangles]
            )

        def kernel(team: Team, file: str, args: Kernel, config: Any) -> Any:
            runtime = ttnn.RuntimeArgs()
            for (x, y), words in args.runtime.items():
                runtime[x][y] = list(words)
            return ttnn.KernelDescriptor(
                kernel_source=kernels.source(folder, f"{team.files}{file}.cpp"),
                core_ranges=core_ranges(team.cores),
                compile_time_args=list(args.compile_time),
                runtime_args=runtime,
                config=config,
            )

        def buffer(place: Cb | Shared, on: Sequence[Rectangle]) -> Any:
            forms = [
                ttnn.CBFormatDescriptor(
                    buffer_index=cb.index, data_format=device_dtype(ttnn, cb.dtype), page_size=TILE_BYTES[cb.dtype]
                )
                for cb in place.cbs
            ]
            return ttnn.CBDescriptor(total_size=place.bytes, core_ranges=core_ranges(on), format_descriptors=forms)

        descriptors, cb_descriptors = [], [buffer(cb, reach) for cb in everywhere]
        for team in teams:
            config = ttnn.ComputeConfigDescriptor(
                math_fidelity=getattr(ttnn.MathFidelity, team.fidelity),
                fp32_dest_acc_en=True,
                dst_full_sync_en=team.full_sync,
            )
            descriptors += [
                kernel(team, "writer", team.writer, ttnn.WriterConfigDescriptor()),
                kernel(team, "reader", team.reader, ttnn.ReaderConfigDescriptor()),
                kernel(team, "compute", team.compute, config),
            ]
            cb_descriptors += [buffer(cb, team.cores) for cb in team.cbs]
        ids = range(semaphores)
        self.descriptor = ttnn.ProgramDescriptor(
            kernels=descriptors,
            semaphores=[ttnn.SemaphoreDescriptor(id=i, core_ranges=core_ranges(reach), initial_value=0) for i in ids],
            cbs=cb_descriptors,
        )

    def launch(self, tensors: Sequence[Any], reader: Sequence[int], writer: Sequence[int]) -> Any:
        """Run it on `tensors`, the output last; returns that. reader, writer: common runtime args of these kernels."""
        for first in range(0, len(self.descriptor.kernels), 3):
            for kernel, common in zip(self.descriptor.kernels[first:], (writer, reader), strict=False):
                kernel.common_runtime_args = list(common)
        return self.ttnn.generic_op(list(tensors), self.descriptor)
