"""What a program is made of: ttnn's descriptors, with ttnn's names, signatures and defaults."""

from __future__ import annotations

import enum
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.emulator.formats import DataType
from harness.emulator.numerics.config import MathFidelity
from harness.emulator.programs.cores import CoreRangeSet
from harness.emulator.ttnn.types import BufferType, CoreCoord, core_coord

UINT32 = 1 << 32
# tt-metal's numbers of the data formats.
DATA_FORMATS = {
    DataType.FLOAT32: 0,
    DataType.BFLOAT16: 5,
    DataType.BFLOAT8_B: 6,
    DataType.BFLOAT4_B: 7,
    DataType.INT32: 8,
    DataType.UINT16: 9,
    DataType.UINT32: 24,
}


def words(values: Iterable[int]) -> list[int]:
    """``values`` as 32-bit words. Raises TypeError for what is no such word, as ttnn does."""
    out = list(values)
    for v in out:
        if isinstance(v, bool) or not isinstance(v, int) or not 0 <= v < UINT32:
            raise TypeError(f"{v!r} is no unsigned 32-bit integer")
    return out


class DataMovementProcessor(enum.Enum):
    """The two data-movement RISCs."""

    RISCV_0 = 0
    RISCV_1 = 1


class NOC(enum.Enum):
    """The two networks on chip."""

    RISCV_0_default = 0
    RISCV_1_default = 1
    NOC_0 = RISCV_0_default
    NOC_1 = RISCV_1_default


class NOC_MODE(enum.Enum):
    """Whether each RISC keeps to one network. The emulator models DM_DEDICATED_NOC."""

    DM_DEDICATED_NOC = 0
    DM_DYNAMIC_NOC = 1


class UnpackToDestMode(enum.Enum):
    """How a circular buffer's tiles reach DEST: through the source registers, or whole fp32 past them."""

    Default = 0
    UnpackToDestFp32 = 1


@dataclass
class DataMovementConfigDescriptor:
    """A data-movement kernel: which RISC runs it, over which network."""

    processor: DataMovementProcessor = DataMovementProcessor.RISCV_0
    noc: NOC = NOC.RISCV_0_default
    noc_mode: NOC_MODE = NOC_MODE.DM_DEDICATED_NOC


class ReaderConfigDescriptor:
    """A reader: RISCV_1 on NoC 0."""

    processor = DataMovementProcessor.RISCV_1
    noc = NOC.RISCV_0_default
    noc_mode = NOC_MODE.DM_DEDICATED_NOC


class WriterConfigDescriptor:
    """A writer: RISCV_0 on NoC 1."""

    processor = DataMovementProcessor.RISCV_0
    noc = NOC.RISCV_1_default
    noc_mode = NOC_MODE.DM_DEDICATED_NOC


@dataclass
class ComputeConfigDescriptor:
    """A compute kernel: the matrix engine's precision, DEST's width and halves."""

    math_fidelity: MathFidelity = MathFidelity.HiFi4
    math_approx_mode: bool = False
    fp32_dest_acc_en: bool = False
    dst_full_sync_en: bool = False
    bfp8_pack_precise: bool = False
    unpack_to_dest_mode: Sequence[UnpackToDestMode] = field(default_factory=list)


class RuntimeArgs:
    """Arguments by core: ``args[x][y] = [words]``."""

    def __init__(self) -> None:
        self._args: dict[CoreCoord, list[int]] = {}

    def __getitem__(self, x: int) -> RuntimeArgsColProxy:
        return RuntimeArgsColProxy(self, x)

    def __len__(self) -> int:
        return len(self._args)

    def __iter__(self) -> Iterator[tuple[CoreCoord, list[int]]]:
        return iter(self._args.items())

    def append(self, coord: CoreCoord, values: Iterable[int]) -> None:
        """Set the arguments of one core."""
        self._args[core_coord(coord)] = words(values)

    def get(self, idx: int) -> tuple[CoreCoord, list[int]]:
        """The ``idx``-th core and its arguments."""
        return self.to_list()[idx]

    def to_list(self) -> list[tuple[CoreCoord, list[int]]]:
        """All cores with their arguments."""
        return list(self._args.items())

    def clear(self) -> None:
        """Forget all."""
        self._args.clear()

    def of(self, core: CoreCoord) -> list[int]:
        """The arguments of ``core``. Raises IndexError when it has none."""
        if core not in self._args:
            raise IndexError(f"No runtime args found for CoreCoord({core.x}, {core.y})")
        return self._args[core]

    @staticmethod
    def of_any(value: RuntimeArgs | Iterable[Any]) -> RuntimeArgs:
        """ttnn takes a RuntimeArgs, or pairs of core and words."""
        if isinstance(value, RuntimeArgs):
            return value
        args = RuntimeArgs()
        for coord, values in value:
            args.append(coord, values)
        return args


class RuntimeArgsColProxy:
    """The arguments of one column of cores."""

    def __init__(self, args: RuntimeArgs, x: int) -> None:
        self._args, self._x = args, x

    def __getitem__(self, y: int) -> list[int]:
        return self._args.of(CoreCoord(self._x, y))

    def __setitem__(self, y: int, values: Iterable[int]) -> None:
        self._args.append(CoreCoord(self._x, y), values)

    def append(self, y: int, value: int) -> None:
        """One more word for a core."""
        self.extend(y, [value])

    def extend(self, y: int, values: Iterable[int]) -> None:
        """More words for a core."""
        core = CoreCoord(self._x, y)
        known = dict(self._args.to_list()).get(core, [])
        self._args.append(core, [*known, *values])


class _SourceType(enum.Enum):
    """Whether ``kernel_source`` is a path or the text itself."""

    FILE_PATH = 0
    SOURCE_CODE = 1


Config = ReaderConfigDescriptor | WriterConfigDescriptor | DataMovementConfigDescriptor | ComputeConfigDescriptor


class KernelDescriptor:
    """One kernel: its source, where it runs, its arguments, its RISC."""

    SourceType = _SourceType

    def __init__(
        self,
        kernel_source: str = "",
        source_type: _SourceType = _SourceType.FILE_PATH,
        core_ranges: CoreRangeSet | None = None,
        compile_time_args: Iterable[int] = (),
        named_compile_time_args: Sequence[tuple[str, int]] = (),
        defines: Sequence[tuple[str, str]] = (),
        runtime_args: RuntimeArgs | Iterable[Any] = (),
        common_runtime_args: Iterable[int] = (),
        config: Config | None = None,
        compiler_include_paths: Sequence[str | os.PathLike[str]] = (),
    ) -> None:
        self.kernel_source = str(kernel_source)
        self.source_type = source_type
        self.core_ranges = core_ranges if core_ranges is not None else CoreRangeSet()
        self.compile_time_args = words(compile_time_args)
        self.named_compile_time_args = [(str(k), words([v])[0]) for k, v in named_compile_time_args]
        self.defines = [(str(k), str(v)) for k, v in defines]
        self.runtime_args = RuntimeArgs.of_any(runtime_args)
        self.common_runtime_args = words(common_runtime_args)
        self.config: Config = config if config is not None else ReaderConfigDescriptor()
        self.compiler_include_paths = [os.fspath(p) for p in compiler_include_paths]

    @property
    def runtime_args(self) -> RuntimeArgs:
        """Arguments by core."""
        return self._runtime_args

    @runtime_args.setter
    def runtime_args(self, value: RuntimeArgs | Iterable[Any]) -> None:
        self._runtime_args = RuntimeArgs.of_any(value)


@dataclass
class TileDescriptor:
    """A tile's size. The emulator models 32x32."""

    height: int = 32
    width: int = 32
    transpose: bool = False


class CBFormatDescriptor:
    """What one circular buffer index holds: its format and the bytes of a page."""

    def __init__(
        self,
        buffer_index: int = 0,
        data_format: DataType = DataType.BFLOAT16,
        page_size: int = 0,
        tile: TileDescriptor | None = None,
    ) -> None:
        self.buffer_index = buffer_index
        self.data_format = data_format
        self.page_size = page_size
        self.tile = tile

    @property
    def data_format_as_uint8(self) -> int:
        """tt-metal's number of the format."""
        return DATA_FORMATS[self.data_format]


@dataclass
class CBDescriptor:
    """L1 for circular buffers: ``total_size`` bytes on each of the cores, shared by the indices of its formats."""

    total_size: int = 0
    core_ranges: CoreRangeSet = field(default_factory=CoreRangeSet)
    format_descriptors: Sequence[CBFormatDescriptor] = ()


class CoreType(enum.Enum):
    """Where a semaphore lives."""

    WORKER = 1


@dataclass
class SemaphoreDescriptor:
    """A word in L1 of each of the cores, set to ``initial_value`` before the program runs."""

    id: int = 0
    core_type: CoreType = CoreType.WORKER
    core_ranges: CoreRangeSet = field(default_factory=CoreRangeSet)
    initial_value: int = 0


class ProgramDescriptor:
    """Kernels, semaphores and circular buffers that run together."""

    def __init__(
        self,
        kernels: Sequence[KernelDescriptor] = (),
        semaphores: Sequence[SemaphoreDescriptor] = (),
        cbs: Sequence[CBDescriptor] = (),
    ) -> None:
        self.kernels = list(kernels)
        self.semaphores = list(semaphores)
        self.cbs = list(cbs)
        self.custom_program_hash: int | None = None


class TensorAccessorArgs:
    """The compile-time arguments from which a kernel builds a TensorAccessor: [flags, aligned page size]."""

    def __init__(self, tensor: Any) -> None:
        dram = tensor.memory_config().buffer_type is BufferType.DRAM
        self._compile_time = [2 if dram else 0, tensor.buffer_aligned_page_size()]

    def get_compile_time_args(self) -> list[int]:
        """[flags, aligned page size in bytes]."""
        return list(self._compile_time)

    def get_common_runtime_args(self) -> list[int]:
        """None: all is known at compile time."""
        return []
