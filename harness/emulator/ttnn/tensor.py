"""Tensors: a shape, a dtype and a layout over pages on the host or in a device buffer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from harness.emulator import formats
from harness.emulator.formats import DataType, Layout, Rounding
from harness.emulator.memory import Buffer
from harness.emulator.ttnn.checks import require
from harness.emulator.ttnn.device import Device
from harness.emulator.ttnn.types import MemoryConfig, Shape, StorageType


class Owner:
    """Frees a buffer when the last tensor over it goes, as ttnn's tensors do. Views share their tensor's owner."""

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer

    def __del__(self) -> None:
        if self.buffer.allocated:
            self.buffer.memory.free(self.buffer)


class Tensor:
    """A tensor on the host (``pages``) or on the device (``buffer``)."""

    def __init__(
        self,
        shape: Sequence[int],
        dtype: DataType,
        layout: Layout,
        memory_config: MemoryConfig,
        device: Device | None = None,
        buffer: Buffer | None = None,
        pages: torch.Tensor | None = None,
        owner: Owner | None = None,
    ) -> None:
        self.shape = Shape(shape)
        self.padded_shape = Shape(formats.padded(shape, layout))
        self.dtype = dtype
        self.layout = layout
        self.pages = pages
        self.buffer = buffer
        self._memory_config = memory_config
        self._device = device
        self.owner = owner

    def __repr__(self) -> str:
        where = "host" if self.buffer is None else f"address {self.buffer.address}"
        return f"Tensor({self.shape}, {self.dtype}, {self.layout}, {where})"

    # ttnn's methods

    def device(self) -> Device | None:
        """The device, or None for a host tensor."""
        return self._device

    def memory_config(self) -> MemoryConfig:
        """Where the tensor lies."""
        return self._memory_config

    def storage_type(self) -> StorageType:
        """HOST or DEVICE."""
        return StorageType.HOST if self.buffer is None else StorageType.DEVICE

    def is_allocated(self) -> bool:
        """Whether the data are still there."""
        return self.buffer.allocated if self.buffer is not None else self.pages is not None

    def is_sharded(self) -> bool:
        """False: only interleaved tensors are modelled."""
        return False

    def buffer_address(self) -> int:
        """Address of the first page of every bank."""
        return self._live_buffer("buffer_address").address

    def buffer_num_pages(self) -> int:
        """Pages of the buffer."""
        return self._live_buffer("buffer_num_pages").n_pages

    def buffer_page_size(self) -> int:
        """Bytes of a page."""
        return self._live_buffer("buffer_page_size").page_bytes

    def buffer_aligned_page_size(self) -> int:
        """Bytes from a page to the next one of its bank."""
        return self._live_buffer("buffer_aligned_page_size").stride

    def deallocate(self, force: bool = True) -> None:
        """Free the data. Like ttnn's, a second call does nothing."""
        self.pages = None
        if self.buffer is not None and self.buffer.allocated:
            self.buffer.memory.free(self.buffer)

    def volume(self) -> int:
        """Number of values, padding included."""
        return self.padded_shape.volume()

    def logical_volume(self) -> int:
        """Number of values."""
        return self.shape.volume()

    def element_size(self) -> int:
        """Bytes a value; the block floats have no whole number."""
        require(self.dtype not in formats.BLOCK_BITS, f"a value of {self.dtype} has no whole number of bytes")
        return formats.CARRIER[self.dtype].itemsize

    def cpu(self) -> Tensor:
        """A copy on the host."""
        require(self.is_allocated(), "from_device: the tensor was deallocated")
        return Tensor(self.shape, self.dtype, self.layout, self._memory_config, pages=self.read_pages())

    def to_torch(self) -> torch.Tensor:
        """The values without their padding: bf16 as bfloat16, the block floats as float32."""
        require(self.is_allocated(), "to_torch: the tensor was deallocated")
        require(
            not (self._device is not None and self._device.capturing), "to_torch: no reads while a trace is captured"
        )
        values = self.load()
        full = (1,) * (len(self.padded_shape) - len(self.shape)) + tuple(self.shape)
        values = values[tuple(slice(n) for n in full)]
        values = values.reshape(tuple(self.shape))
        return values.float() if self.dtype in formats.BLOCK_BITS else values.clone()

    def seen_as(self, shape: Sequence[int]) -> Tensor:
        """The same data under another shape."""
        return Tensor(
            shape, self.dtype, self.layout, self._memory_config, self._device, self.buffer, self.pages, self.owner
        )

    def by_address(self) -> Tensor:
        """The same device bytes, whether or not they stay allocated."""
        return Tensor(self.shape, self.dtype, self.layout, self._memory_config, self._device, self.buffer)

    # Between bytes and values

    def read_pages(self) -> torch.Tensor:
        """The encoded pages."""
        if self.buffer is not None:
            return self.buffer.read(formats.CARRIER[self.dtype])
        require(self.pages is not None, "the tensor was deallocated")
        assert self.pages is not None
        return self.pages

    def load(self) -> torch.Tensor:
        """The values, padding included. Not to be written to: they may be shared."""
        if self._device is None or self.buffer is None or not self.buffer.allocated:
            return formats.decode(self.read_pages(), self.padded_shape, self.dtype, self.layout)
        key = (self._memory_config.buffer_type, self.buffer.version, self.padded_shape[-2:])
        values = self._device.decoded.get(key)
        if values is None:
            values = formats.decode(self.read_pages(), self.padded_shape, self.dtype, self.layout)
            self._device.decoded.put(key, values)
        return values.view(tuple(self.padded_shape))

    def store(self, values: torch.Tensor, rounding: Rounding = Rounding.PACKER) -> None:
        """Write ``values`` (of the padded shape) as the device would."""
        assert self.buffer is not None
        pages = formats.encode(values.reshape(tuple(self.padded_shape)), self.dtype, self.layout, rounding)
        self.buffer.write(pages)

    def _live_buffer(self, what: str) -> Buffer:
        require(self.buffer is not None, f"{what}: a host tensor has no buffer")
        assert self.buffer is not None
        require(self.buffer.allocated, f"{what}: the tensor was deallocated")
        return self.buffer


def allocate(
    shape: Sequence[int], dtype: DataType, layout: Layout, device: Device, memory_config: MemoryConfig | None
) -> Tensor:
    """An uninitialised (poisoned) tensor on the device."""
    require(isinstance(device, Device) and device.is_open, "the device is closed, or none")
    require(dtype not in formats.BLOCK_BITS or layout is Layout.TILE, f"{dtype} needs TILE layout")
    require(all(n > 0 for n in shape), f"a tensor of shape {list(shape)} has no values")
    config = memory_config or MemoryConfig()
    size = formats.padded(shape, layout)
    buffer = device.memories[config.buffer_type].allocate(
        formats.page_count(size, layout), formats.page_bytes(dtype, layout, size[-1])
    )
    return Tensor(shape, dtype, layout, config, device, buffer, owner=Owner(buffer))


def like(tensor: Tensor, shape: Sequence[int] | None = None, **changes: Any) -> Tensor:
    """A new device tensor with ``tensor``'s properties but for ``shape``, ``dtype`` and ``memory_config`` given."""
    device = tensor.device()
    assert device is not None
    return allocate(
        tensor.shape if shape is None else shape,
        changes.get("dtype") or tensor.dtype,
        tensor.layout,
        device,
        changes.get("memory_config") or tensor.memory_config(),
    )
