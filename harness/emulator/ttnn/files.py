"""Tensors in files: the pages as the device has them. A file is the emulator's own, not the real ttnn's."""

from __future__ import annotations

import json
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from harness.emulator.formats import DataType, Layout
from harness.emulator.ttnn.checks import require
from harness.emulator.ttnn.device import Device
from harness.emulator.ttnn.tensor import Tensor
from harness.emulator.ttnn.transfer import to_device
from harness.emulator.ttnn.types import MemoryConfig

SUFFIX = ".tensorbin"


def dump_tensor(file_name: str | Path, tensor: Tensor) -> None:
    """Write a tensor's shape, dtype, layout and pages. The name ends with `.tensorbin`, as ttnn asks."""
    _check_suffix(file_name)
    require(tensor.is_allocated(), "dump_tensor: the tensor was deallocated")
    about = {"shape": list(tensor.shape), "dtype": tensor.dtype.name, "layout": tensor.layout.name}
    save_file({"pages": tensor.cpu().read_pages().contiguous()}, file_name, metadata={"tensor": json.dumps(about)})


def load_tensor(file_name: str | Path, *, device: Device | None = None) -> Tensor:
    """The tensor of a file, on the host or on ``device``. Its pages are read when they are used."""
    _check_suffix(file_name)
    require(Path(file_name).is_file(), f"Unable to load the tensor from {file_name}. The file does not exist.")
    try:
        with safe_open(file_name, framework="pt") as file:
            about = json.loads(file.metadata()["tensor"])
            pages = file.get_tensor("pages")
    except (SafetensorError, KeyError, TypeError) as error:
        raise RuntimeError(f"Unable to load the tensor from {file_name}: it is no file of the emulator's") from error
    dtype, layout = DataType[about["dtype"]], Layout[about["layout"]]
    host = Tensor(about["shape"], dtype, layout, MemoryConfig(), pages=pages)
    return host if device is None else to_device(host, device)


def _check_suffix(file_name: str | Path) -> None:
    require(Path(file_name).suffix == SUFFIX, f"{file_name} must end with {SUFFIX}")
