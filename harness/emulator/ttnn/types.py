"""The plain values of ttnn's interface: enums, shapes, memory and program configurations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harness.emulator.formats import Named


class BufferType(Named):
    """Which memory a buffer lies in."""

    DRAM = 0
    L1 = 1


class TensorMemoryLayout(Named):
    """How pages spread over banks. Only INTERLEAVED is modelled; the others exist to be refused."""

    INTERLEAVED = 0
    HEIGHT_SHARDED = 2
    WIDTH_SHARDED = 3
    BLOCK_SHARDED = 4


class StorageType(Named):
    """Where a tensor's data are."""

    HOST = 0
    DEVICE = 1


class Arch(Named):
    """The chip."""

    BLACKHOLE = 3


class UnaryOpType(Named):
    """Activations that a matmul can fuse."""

    SILU = "silu"


class Shape(Sequence[int]):
    """A tensor's dimensions. Compares equal to a list or tuple of the same numbers."""

    def __init__(self, dims: Sequence[int]) -> None:
        self._dims = tuple(int(d) for d in dims)

    def __getitem__(self, i: Any) -> Any:
        return self._dims[i]

    def __len__(self) -> int:
        return len(self._dims)

    def __iter__(self) -> Iterator[int]:
        return iter(self._dims)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._dims == tuple(other)

    def __hash__(self) -> int:
        return hash(self._dims)

    def __repr__(self) -> str:
        return f"Shape({list(self._dims)})"

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self._dims)

    def volume(self) -> int:
        """Number of values."""
        return math.prod(self._dims)


@dataclass(frozen=True)
class CoreCoord:
    """A core of the grid: column x, row y. As a size: columns and rows."""

    x: int
    y: int

    def __repr__(self) -> str:
        return f"{self.x}-{self.y}"


def core_coord(value: CoreCoord | tuple[int, int]) -> CoreCoord:
    """ttnn takes a pair wherever it takes a CoreCoord."""
    return value if isinstance(value, CoreCoord) else CoreCoord(*value)


@dataclass(frozen=True)
class MemoryConfig:
    """Where a tensor lies and how its pages spread over the banks."""

    memory_layout: TensorMemoryLayout = TensorMemoryLayout.INTERLEAVED
    buffer_type: BufferType = BufferType.DRAM
    shard_spec: None = None

    def __post_init__(self) -> None:
        if self.memory_layout is not TensorMemoryLayout.INTERLEAVED or self.shard_spec is not None:
            raise RuntimeError(f"{self.memory_layout} is not modelled by the emulator: use INTERLEAVED")

    def is_sharded(self) -> bool:
        """False: only interleaved tensors are modelled."""
        return False


DRAM_MEMORY_CONFIG = MemoryConfig()
L1_MEMORY_CONFIG = MemoryConfig(buffer_type=BufferType.L1)


@dataclass(frozen=True)
class UnaryWithParam:
    """An activation to fuse."""

    op_type: UnaryOpType


@dataclass(frozen=True, kw_only=True)
class SDPAProgramConfig:
    """Work split of an attention op: the grid, the chunk sizes in rows, cores a head and batch."""

    compute_with_storage_grid_size: CoreCoord | tuple[int, int]
    q_chunk_size: int
    k_chunk_size: int
    exp_approx_mode: bool | None = None
    max_cores_per_head_batch: int = 16


@dataclass(frozen=True, kw_only=True)
class MatmulMultiCoreReuseMultiCast1DProgramConfig:
    """Work split of a 1-D multicast matmul, in tiles: one operand is multicast, the other split over the cores."""

    compute_with_storage_grid_size: CoreCoord | tuple[int, int]
    in0_block_w: int
    out_subblock_h: int
    out_subblock_w: int
    per_core_M: int
    per_core_N: int
    fuse_batch: bool
    mcast_in0: bool
    out_block_h: int | None = None
    out_block_w: int | None = None
    fused_activation: UnaryWithParam | None = None
