"""ttnn's names over the emulated device: what an implementation is handed as its ``ttnn``.

A name that is missing here raises an AttributeError that says so.
"""

from harness.emulator.formats import TILE as TILE_SIZE
from harness.emulator.formats import DataType, Layout
from harness.emulator.numerics.config import MathFidelity, WormholeComputeKernelConfig
from harness.emulator.programs import (
    NOC,
    NOC_MODE,
    CBDescriptor,
    CBFormatDescriptor,
    ComputeConfigDescriptor,
    CoreRange,
    CoreRangeSet,
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
    generic_op,
)
from harness.emulator.ttnn import experimental, transformer
from harness.emulator.ttnn.device import (
    Device,
    begin_trace_capture,
    close_device,
    end_trace_capture,
    execute_trace,
    open_device,
    release_trace,
    synchronize_device,
)
from harness.emulator.ttnn.eltwise import add, multiply, silu
from harness.emulator.ttnn.files import dump_tensor, load_tensor
from harness.emulator.ttnn.heads import fill_cache
from harness.emulator.ttnn.matmul import linear, matmul
from harness.emulator.ttnn.norm import rms_norm
from harness.emulator.ttnn.tensor import Tensor
from harness.emulator.ttnn.transfer import (
    allocate_tensor_on_device,
    copy_device_to_host_tensor,
    copy_host_to_device_tensor,
    deallocate,
    from_device,
    from_torch,
    reshape,
    to_device,
    to_torch,
    typecast,
    view,
)
from harness.emulator.ttnn.types import (
    DRAM_MEMORY_CONFIG,
    L1_MEMORY_CONFIG,
    BufferType,
    CoreCoord,
    MatmulMultiCoreReuseMultiCast1DProgramConfig,
    MemoryConfig,
    SDPAProgramConfig,
    Shape,
    StorageType,
    TensorMemoryLayout,
    UnaryOpType,
    UnaryWithParam,
)

MeshDevice = Device
BlackholeComputeKernelConfig = WormholeComputeKernelConfig
bfloat16, float32 = DataType.BFLOAT16, DataType.FLOAT32
bfloat8_b, bfloat4_b = DataType.BFLOAT8_B, DataType.BFLOAT4_B
uint32, int32, uint16 = DataType.UINT32, DataType.INT32, DataType.UINT16
TILE_LAYOUT, ROW_MAJOR_LAYOUT = Layout.TILE, Layout.ROW_MAJOR

__all__ = [
    "NOC",
    "NOC_MODE",
    "CBDescriptor",
    "CBFormatDescriptor",
    "ComputeConfigDescriptor",
    "CoreRange",
    "CoreRangeSet",
    "CoreType",
    "DataMovementConfigDescriptor",
    "DataMovementProcessor",
    "KernelDescriptor",
    "ProgramDescriptor",
    "ReaderConfigDescriptor",
    "RuntimeArgs",
    "SemaphoreDescriptor",
    "TensorAccessorArgs",
    "TileDescriptor",
    "UnpackToDestMode",
    "WriterConfigDescriptor",
    "generic_op",
    "DRAM_MEMORY_CONFIG",
    "L1_MEMORY_CONFIG",
    "ROW_MAJOR_LAYOUT",
    "TILE_LAYOUT",
    "TILE_SIZE",
    "BlackholeComputeKernelConfig",
    "BufferType",
    "CoreCoord",
    "DataType",
    "Device",
    "Layout",
    "MathFidelity",
    "MatmulMultiCoreReuseMultiCast1DProgramConfig",
    "MemoryConfig",
    "MeshDevice",
    "SDPAProgramConfig",
    "Shape",
    "StorageType",
    "Tensor",
    "TensorMemoryLayout",
    "UnaryOpType",
    "UnaryWithParam",
    "WormholeComputeKernelConfig",
    "add",
    "allocate_tensor_on_device",
    "begin_trace_capture",
    "bfloat16",
    "bfloat4_b",
    "bfloat8_b",
    "close_device",
    "copy_device_to_host_tensor",
    "copy_host_to_device_tensor",
    "deallocate",
    "dump_tensor",
    "end_trace_capture",
    "execute_trace",
    "experimental",
    "fill_cache",
    "float32",
    "from_device",
    "from_torch",
    "int32",
    "linear",
    "load_tensor",
    "matmul",
    "multiply",
    "open_device",
    "release_trace",
    "reshape",
    "rms_norm",
    "silu",
    "synchronize_device",
    "to_device",
    "to_torch",
    "transformer",
    "typecast",
    "uint16",
    "uint32",
    "view",
]


def __getattr__(name: str) -> object:
    raise AttributeError(f"ttnn.{name} is not modelled by the emulator")
