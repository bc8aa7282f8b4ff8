"""Moving and reinterpreting data: torch to tensor and back, host to device, views."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from harness.emulator import formats
from harness.emulator.formats import DataType, Layout, Rounding
from harness.emulator.ttnn.checks import require, require_on_device
from harness.emulator.ttnn.device import Device, launch
from harness.emulator.ttnn.tensor import Tensor, allocate, like
from harness.emulator.ttnn.types import MemoryConfig

_DTYPE_OF = {
    torch.bfloat16: DataType.BFLOAT16,
    torch.float32: DataType.FLOAT32,
    torch.int32: DataType.INT32,
}


def from_torch(
    tensor: torch.Tensor,
    dtype: DataType | None = None,
    *,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """``tensor`` in ttnn's format, on the host or on ``device``. Block floats are always in TILE layout."""
    if dtype is None:
        require(tensor.dtype in _DTYPE_OF, f"from_torch: {tensor.dtype} has no dtype of ttnn's; give dtype")
        dtype = _DTYPE_OF[tensor.dtype]
    if dtype in formats.BLOCK_BITS:
        require(layout is not Layout.ROW_MAJOR, f"from_torch: {dtype} needs TILE layout")
        layout = Layout.TILE
    layout = layout or Layout.ROW_MAJOR
    size = formats.padded(tensor.shape, layout)
    values = tensor.float() if dtype in formats.BLOCK_BITS else tensor
    if tuple(size) != tuple(tensor.shape):
        whole = values.new_zeros(size)
        whole[tuple(slice(n) for n in (1,) * (len(size) - tensor.dim()) + tuple(tensor.shape))] = values
        values = whole
    pages = formats.encode(values, dtype, layout, Rounding.HOST)
    host = Tensor(tensor.shape, dtype, layout, memory_config or MemoryConfig(), pages=pages)
    return host if device is None else to_device(host, device, memory_config=memory_config)


def to_torch(tensor: Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
    """The values of a host or device tensor: bf16 as bfloat16, block floats as float32, or as ``dtype``."""
    values = tensor.to_torch()
    return values if dtype is None else values.to(dtype)


def allocate_tensor_on_device(
    shape: Sequence[int],
    dtype: DataType,
    layout: Layout,
    mesh_device: Device,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A device tensor with no data yet: it reads as NaN."""
    return allocate(shape, dtype, layout, mesh_device, memory_config)


def copy_host_to_device_tensor(host_tensor: Tensor, device_tensor: Tensor, *, cq_id: int | None = None) -> None:
    """Overwrite a device tensor. Shape, dtype and layout must be the same."""
    op = "copy_host_to_device_tensor"
    require(host_tensor.buffer is None, f"{op}: the source is a device tensor")
    require(host_tensor.is_allocated(), f"{op}: the source was deallocated")
    require_on_device(op, device_tensor=device_tensor)
    for what in ("shape", "dtype", "layout"):
        source, target = getattr(host_tensor, what), getattr(device_tensor, what)
        require(source == target, f"{op}: the host tensor's {what} {source} is not the device tensor's {target}")
    _upload(host_tensor, device_tensor)


def copy_device_to_host_tensor(
    device_tensor: Tensor, host_tensor: Tensor, blocking: bool = True, *, cq_id: int | None = None
) -> None:
    """Overwrite a host tensor. Shape, dtype and layout must be the same."""
    op = "copy_device_to_host_tensor"
    require(host_tensor.buffer is None, f"{op}: the target is a device tensor")
    require_on_device(op, device_tensor=device_tensor)
    for what in ("shape", "dtype", "layout"):
        source, target = getattr(device_tensor, what), getattr(host_tensor, what)
        require(source == target, f"{op}: the device tensor's {what} {source} is not the host tensor's {target}")
    host_tensor.pages = from_device(device_tensor).pages


def to_device(tensor: Tensor, device: Device, *, memory_config: MemoryConfig | None = None) -> Tensor:
    """A copy of a host tensor on the device."""
    require(tensor.is_allocated(), "to_device: the tensor was deallocated")
    if tensor.buffer is not None:
        return tensor
    result = allocate(tensor.shape, tensor.dtype, tensor.layout, device, memory_config or tensor.memory_config())
    _upload(tensor, result)
    return result


def from_device(tensor: Tensor) -> Tensor:
    """A copy of a device tensor on the host."""
    device = tensor.device()
    require(not (device and device.capturing), "from_device: no reads while a trace is captured")
    return tensor.cpu()


def _upload(host: Tensor, target: Tensor) -> None:
    device = target.device()
    assert device is not None and target.buffer is not None
    require(not device.capturing, "no writes from the host while a trace is captured")
    target.buffer.write(host.read_pages())


def view(tensor: Tensor, shape: Sequence[int]) -> Tensor:
    """The same data under another shape, without a copy: tile order must stay what it is."""
    require(tensor.is_allocated(), "view: the tensor was deallocated")
    result = tensor.seen_as(shape)
    require(
        result.shape.volume() == tensor.shape.volume(),
        f"view: {tensor.shape} has {tensor.shape.volume()} values, {result.shape} has {result.shape.volume()}",
    )
    if tensor.layout is Layout.TILE:
        require(
            result.padded_shape[-1] == tensor.padded_shape[-1] and result.shape[-1] == tensor.shape[-1],
            f"view: the last dimension of a tiled tensor cannot change ({tensor.shape[-1]} to {result.shape[-1]})",
        )
        require(
            result.shape[-2] == tensor.shape[-2]
            or (result.shape[-2] % formats.TILE == 0 and tensor.shape[-2] % formats.TILE == 0),
            f"view: rows {tensor.shape[-2]} to {result.shape[-2]} would move values between tiles; "
            f"both must be multiples of {formats.TILE}",
        )
    else:
        require(result.shape[-1] == tensor.shape[-1], "view: the last dimension of a row-major tensor cannot change")
    return result


def reshape(tensor: Tensor, shape: Sequence[int]) -> Tensor:
    """``view``, with -1 for one dimension. A reshape that moves values between tiles is not modelled."""
    shape = list(shape)
    if -1 in shape:
        known = -math.prod(shape)
        require(known > 0 and tensor.shape.volume() % known == 0, f"reshape: {tensor.shape} does not become {shape}")
        shape[shape.index(-1)] = tensor.shape.volume() // known
    return view(tensor, shape)


def typecast(
    input_tensor: Tensor,
    dtype: DataType,
    *,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """The tensor in another dtype, converted on the device."""
    require_on_device("typecast", input=input_tensor)
    require(
        dtype not in formats.BLOCK_BITS or input_tensor.layout is Layout.TILE, f"typecast: {dtype} needs TILE layout"
    )
    result = like(input_tensor, dtype=dtype, memory_config=memory_config)

    def compute(source: Tensor, target: Tensor) -> None:
        values = source.load()
        target.store(values if dtype in formats.INTEGERS else values.float(), Rounding.CAST)

    launch("typecast", [input_tensor], [result], compute, dtype=dtype)
    return result


def deallocate(tensor: Tensor, force: bool = True) -> None:
    """Free a tensor's data. A second call does nothing."""
    tensor.deallocate(force)
