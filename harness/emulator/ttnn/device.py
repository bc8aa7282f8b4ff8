"""The emulated device: grid, memories, and the one path by which ops reach them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from harness.emulator import memory
from harness.emulator.ttnn.checks import require
from harness.emulator.ttnn.types import Arch, BufferType, CoreCoord

if TYPE_CHECKING:
    from harness.emulator.programs.descriptors import NOC
    from harness.emulator.ttnn.tensor import Tensor

DEFAULT_GRID = (11, 10)
GRIDS = (DEFAULT_GRID, (13, 10))
DECODED_BYTES = 1 << 30
BANK_ROWS = ((9, 0, 7, 3, 9, 1, 6, 4), (0, 8, 2, 5, 0, 8, 2, 5))  # worker rows next to the banks, by NoC


@dataclass(frozen=True)
class Launch:
    """One op on its way to the device: what it is called, what it reads and writes, and how it computes.

    ``compute(*inputs, *outputs)`` loads and stores by address, so that a trace can run it again. ``attributes`` are the
    op's parameters (program config, scale, ...).
    """

    name: str
    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]
    compute: Callable[..., None]
    attributes: dict[str, Any] = field(default_factory=dict)

    def by_address(self) -> Launch:
        """The same op, holding no tensor alive."""
        inputs, outputs = ([t.by_address() for t in tensors] for tensors in (self.inputs, self.outputs))
        return Launch(self.name, inputs, outputs, self.compute, self.attributes)


class Recent:
    """Decoded tensors, the most recently used ones, ``limit`` bytes of them. Keys name a version of the bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: OrderedDict[Any, torch.Tensor] = OrderedDict()

    def get(self, key: Any) -> torch.Tensor | None:
        """The tensor under ``key``, if it is still kept."""
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def put(self, key: Any, values: torch.Tensor) -> None:
        """Keep ``values``, dropping what was not used for longest."""
        self._kept[key] = values
        while sum(t.nbytes for t in self._kept.values()) > self._limit and len(self._kept) > 1:
            self._kept.popitem(last=False)


class Device:
    """A Blackhole with ``grid`` worker cores (columns, rows) and ``banks`` DRAM banks."""

    def __init__(
        self, grid: tuple[int, int] = DEFAULT_GRID, device_id: int = 0, banks: int = memory.N_DRAM_BANKS
    ) -> None:
        require(tuple(grid) in GRIDS, f"no grid of {grid[0]}x{grid[1]} cores: a Blackhole shows 11x10 or 13x10")
        self.grid = CoreCoord(*grid)
        self.device_id = device_id
        self.memories = {BufferType.DRAM: memory.dram(banks), BufferType.L1: memory.l1(grid[0] * grid[1])}
        self.listeners: list[Callable[[Launch], None]] = []  # told of every op that runs, replays included
        self.decoded = Recent(DECODED_BYTES)
        self.is_open = True
        self._capture: list[Launch] | None = None
        self._traces: dict[int, list[Launch]] = {}
        self._next_trace = 0

    @property
    def dram(self) -> memory.Memory:
        """The DRAM banks."""
        return self.memories[BufferType.DRAM]

    @property
    def l1(self) -> memory.Memory:
        """The cores' L1, row by row of the grid."""
        return self.memories[BufferType.L1]

    # ttnn's methods

    def compute_with_storage_grid_size(self) -> CoreCoord:
        """Columns and rows of worker cores."""
        return self.grid

    @property
    def core_grid(self) -> CoreCoord:
        """The same as ``compute_with_storage_grid_size``."""
        return self.grid

    def worker_core_from_logical_core(self, core: CoreCoord) -> CoreCoord:
        """The virtual NoC coordinates of a logical core: columns 8 and 9 hold no workers."""
        require(core.x < self.grid.x and core.y < self.grid.y, f"there is no core {core} in a grid of {self.grid}")
        return CoreCoord(core.x + (1 if core.x < 7 else 3), core.y + 2)

    def dram_grid_size(self) -> CoreCoord:
        """DRAM banks as a grid of one row."""
        return CoreCoord(self.dram.n_banks, 1)

    def get_optimal_dram_bank_to_logical_worker_assignment(self, noc: NOC) -> list[CoreCoord]:
        """For each DRAM bank a worker in the NoC row of its endpoint, as ttnn 0.81.1 names them."""
        rows = BANK_ROWS[noc.value]
        require(len(rows) >= self.dram.n_banks, f"no cores are known for {self.dram.n_banks} banks")
        # The first four banks lie left of the grid, the others in its middle.
        return [CoreCoord(0 if bank < 4 else 7, rows[bank]) for bank in range(self.dram.n_banks)]

    def arch(self) -> Arch:
        """Arch.BLACKHOLE."""
        return Arch.BLACKHOLE

    def id(self) -> int:
        """The device's number."""
        return self.device_id

    get_device_id = id

    def get_num_devices(self) -> int:
        """1: a single chip."""
        return 1

    # The op path

    def launch(self, launch: Launch) -> None:
        """Run an op, or record it while a trace is captured."""
        require(self.is_open, f"{launch.name}: the device is closed")
        if self._capture is not None:
            self._capture.append(launch.by_address())
        else:
            self._run(launch)

    def _run(self, launch: Launch) -> None:
        for listener in self.listeners:
            listener(launch)
        launch.compute(*launch.inputs, *launch.outputs)

    # Traces

    @property
    def capturing(self) -> bool:
        """Whether ops are recorded instead of run."""
        return self._capture is not None

    def begin_trace(self) -> int:
        """Start recording. Returns the trace's id."""
        require(self._capture is None, "a trace is being captured already: end it first")
        self._capture = []
        self._next_trace += 1
        return self._next_trace - 1

    def end_trace(self, trace: int) -> None:
        """Stop recording."""
        require(self._capture is not None and trace == self._next_trace - 1, f"trace {trace} is not being captured")
        assert self._capture is not None
        self._traces[trace], self._capture = self._capture, None

    def execute_trace(self, trace: int) -> None:
        """Run what was recorded, at the addresses of the capture."""
        require(trace in self._traces, f"there is no trace {trace}: never captured, or released")
        require(self._capture is None, "a trace cannot be executed while another is captured")
        for launch in self._traces[trace]:
            self._run(launch)

    def release_trace(self, trace: int) -> None:
        """Forget a trace."""
        require(trace in self._traces, f"there is no trace {trace}: never captured, or released")
        del self._traces[trace]

    def close(self) -> None:
        """Free every buffer and close the memories. Closing twice is harmless."""
        if not self.is_open:
            return
        self.is_open = False
        self._traces.clear()
        for mem in self.memories.values():
            for buffer in list(mem.live.values()):
                mem.free(buffer)
            mem.close()


def launch(
    name: str, inputs: Sequence[Tensor], outputs: Sequence[Tensor], compute: Callable[..., None], **attributes: Any
) -> None:
    """Send an op down the one path to its operands' device; see ``Launch``."""
    device = outputs[0].device()
    assert device is not None
    device.launch(Launch(name, inputs, outputs, compute, attributes))


def open_device(device_id: int = 0, **options: Any) -> Device:
    """Open the emulated device, 11x10 cores. ``options`` are ttnn's sizes and queues, of no effect here."""
    known = {"l1_small_size", "trace_region_size", "num_command_queues", "dispatch_core_config", "worker_l1_size"}
    unknown = set(options) - known
    if unknown:
        raise TypeError(f"open_device() got an unexpected keyword argument '{sorted(unknown)[0]}'")
    require(device_id == 0, f"there is no device {device_id}: the emulator has one, number 0")
    return Device()


def close_device(device: Device) -> None:
    """Close ``device``; its tensors are gone."""
    device.close()


def synchronize_device(device: Device, cq_id: int | None = None) -> None:
    """Wait for the device. Ops here are done when they return."""
    require(device.is_open, "synchronize_device: the device is closed")


def begin_trace_capture(device: Device, *, cq_id: int | None = None) -> int:
    """Record the ops that follow instead of running them. Returns the trace's id."""
    return device.begin_trace()


def end_trace_capture(device: Device, trace_id: int, *, cq_id: int | None = None) -> None:
    """End the recording."""
    device.end_trace(trace_id)


def execute_trace(device: Device, trace_id: int, *, cq_id: int | None = None, blocking: bool = True) -> None:
    """Run a recorded trace: every op again, at the addresses of the capture."""
    device.execute_trace(trace_id)


def release_trace(device: Device, trace_id: int) -> None:
    """Give a trace back."""
    device.release_trace(trace_id)
