"""Programs of tt-metal kernels on the emulated device: descriptors, compilation, launch, faults, counts.

The names that ttnn has too are for ``harness.emulator.ttnn`` to import.
"""

from harness.emulator.programs.constants import Constant, machine_constants
from harness.emulator.programs.cores import CoreRange, CoreRangeSet
from harness.emulator.programs.counts import Counts, ProgramCounts
from harness.emulator.programs.descriptors import (
    NOC,
    NOC_MODE,
    CBDescriptor,
    CBFormatDescriptor,
    ComputeConfigDescriptor,
    CoreType,
    DataMovementConfigDescriptor,
    DataMovementProcessor,
    KernelDescriptor,
    ProgramDescriptor,
    ReaderConfigDescriptor,
    RuntimeArgs,
    SemaphoreDescriptor,
    TensorAccessorArgs,
    TileDescriptor,
    UnpackToDestMode,
    WriterConfigDescriptor,
)
from harness.emulator.programs.faults import KernelFault, Location
from harness.emulator.programs.l1 import L1Map, PlacedCb
from harness.emulator.programs.op import Programs, generic_op, programs_of
from harness.emulator.programs.predicted import Prediction, ThreadTime
from harness.emulator.programs.schedules import check_schedules
from harness.emulator.programs.timeline import Phase, ThreadSpans, Timeline, Wait

__all__ = [
    "NOC",
    "NOC_MODE",
    "CBDescriptor",
    "CBFormatDescriptor",
    "ComputeConfigDescriptor",
    "Constant",
    "CoreRange",
    "CoreRangeSet",
    "CoreType",
    "Counts",
    "DataMovementConfigDescriptor",
    "DataMovementProcessor",
    "KernelDescriptor",
    "KernelFault",
    "L1Map",
    "Location",
    "Phase",
    "PlacedCb",
    "Prediction",
    "ProgramCounts",
    "ProgramDescriptor",
    "Programs",
    "ReaderConfigDescriptor",
    "RuntimeArgs",
    "SemaphoreDescriptor",
    "TensorAccessorArgs",
    "ThreadSpans",
    "ThreadTime",
    "TileDescriptor",
    "Timeline",
    "UnpackToDestMode",
    "Wait",
    "WriterConfigDescriptor",
    "check_schedules",
    "generic_op",
    "machine_constants",
    "programs_of",
]
