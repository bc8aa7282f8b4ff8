"""``generic_op``: a program on tensors, as one op of the device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from harness.emulator.programs.cache import ProgramCache
from harness.emulator.programs.counts import ProgramCounts
from harness.emulator.programs.descriptors import ProgramDescriptor
from harness.emulator.programs.launch import Settings, live_buffers, place, run
from harness.emulator.ttnn.device import Device, launch

if TYPE_CHECKING:
    from harness.emulator.ttnn.tensor import Tensor


@dataclass
class Programs(Settings):
    """What a device keeps of the programs it runs, and how it runs them. ``counts``: of every run, in order. ``cache``:
    the program cache."""

    counts: list[ProgramCounts] = field(default_factory=list)
    cache: ProgramCache = field(default_factory=ProgramCache)


_programs: WeakKeyDictionary[Device, Programs] = WeakKeyDictionary()


def programs_of(device: Device) -> Programs:
    """The programs of ``device``."""
    return _programs.setdefault(device, Programs())


def generic_op(io_tensors: Sequence[Tensor], program_descriptor: ProgramDescriptor) -> Tensor:
    """Run ``program_descriptor``. ``io_tensors``: the inputs, then the output, all allocated. Returns the output.

    Raises KernelFault when a kernel does what is wrong on the device, RuntimeError for operands that ttnn refuses.
    """
    if len(io_tensors) < 2:
        raise RuntimeError(
            f"io_tensors must contain at least one input tensor and one output tensor, got {len(io_tensors)}"
        )
    device = io_tensors[-1].device()
    if device is None:
        raise RuntimeError("generic_op: the tensors must be on the device")
    programs = programs_of(device)
    placed = programs.cache.get(program_descriptor, lambda program: place(program, device))
    buffers = live_buffers(device)

    def compute(*_: Tensor) -> None:
        assert device is not None
        result = run(placed, device, buffers, programs)
        programs.counts.append(result.counts)
        for buffer in result.written:
            buffer.memory.wrote(buffer.address, buffer.bytes_per_bank)

    launch("generic_op", io_tensors[:-1], io_tensors[-1:], compute, program=program_descriptor)
    return io_tensors[-1]
