"""Programs written once against ttnn's names, for the emulator and the real ttnn alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

COLUMNS = 11  # of the published times' grid
TILE_BYTES = {"bfloat16": 2048, "float32": 4096, "bfloat8_b": 1088, "bfloat4_b": 576, "uint32": 4096}


class Builder:
    """Tensors and descriptors on one device. ``ttnn``: the real module or the emulator's."""

    def __init__(self, ttnn: Any, device: Any) -> None:
        self.ttnn, self.device = ttnn, device

    def tensor(self, values: torch.Tensor, dtype: str = "bfloat16", memory: str = "DRAM") -> Any:
        """A tiled tensor on the device."""
        t = self.ttnn
        return t.from_torch(
            values,
            dtype=getattr(t, dtype),
            layout=t.TILE_LAYOUT,
            device=self.device,
            memory_config=getattr(t, f"{memory}_MEMORY_CONFIG"),
        )

    def empty(self, shape: Sequence[int], dtype: str = "bfloat16") -> Any:
        """An uninitialised tiled tensor in DRAM."""
        t = self.ttnn
        return t.allocate_tensor_on_device(
            t.Shape(list(shape)), getattr(t, dtype), t.TILE_LAYOUT, self.device, t.DRAM_MEMORY_CONFIG
        )

    def grid(self, columns: int, rows: int = 1) -> Any:
        """The cores (0, 0) .. (columns - 1, rows - 1)."""
        t = self.ttnn
        return t.CoreRangeSet([t.CoreRange(t.CoreCoord(0, 0), t.CoreCoord(columns - 1, rows - 1))])

    def cb(self, index: int, cores: Any, pages: int = 2, dtype: str = "bfloat16") -> Any:
        """A circular buffer of tiles."""
        t = self.ttnn
        size = TILE_BYTES[dtype]
        return t.CBDescriptor(
            total_size=size * pages,
            core_ranges=cores,
            format_descriptors=[
                t.CBFormatDescriptor(buffer_index=index, data_format=getattr(t, dtype), page_size=size)
            ],
        )

    def accessors(self, *tensors: Any) -> list[int]:
        """The compile-time arguments of the tensors' accessors."""
        return [x for tensor in tensors for x in self.ttnn.TensorAccessorArgs(tensor).get_compile_time_args()]

    def kernel(
        self,
        source: Path,
        role: str,
        cores: Any,
        compile_time: Sequence[int] = (),
        runtime: Callable[[int, int], Sequence[int]] | None = None,
        common: Sequence[int] = (),
        defines: Mapping[str, str] | None = None,
        named: Mapping[str, int] | None = None,
        **compute: Any,
    ) -> Any:
        """A kernel. ``role``: reader, writer or compute. ``runtime(x, y)``: its args."""
        t = self.ttnn
        args = t.RuntimeArgs()
        for r in cores.ranges():
            for y in range(r.start.y, r.end.y + 1):
                for x in range(r.start.x, r.end.x + 1):
                    if runtime:
                        args[x][y] = list(runtime(x, y))
        configs = {
            "reader": t.ReaderConfigDescriptor,
            "writer": t.WriterConfigDescriptor,
            "compute": t.ComputeConfigDescriptor,
        }
        config = configs[role](**compute)
        return t.KernelDescriptor(
            kernel_source=str(source),
            core_ranges=cores,
            compile_time_args=list(compile_time),
            runtime_args=args,
            common_runtime_args=list(common),
            defines=list((defines or {}).items()),
            named_compile_time_args=list((named or {}).items()),
            config=config,
        )

    def first_cores(self, n: int, columns: int = COLUMNS) -> Any:
        """The first ``n`` cores, row by row of ``columns``."""
        t = self.ttnn
        rows = [(y, min(columns, n - y * columns)) for y in range(-(-n // columns))]
        return t.CoreRangeSet([t.CoreRange(t.CoreCoord(0, y), t.CoreCoord(wide - 1, y)) for y, wide in rows])

    def noc(self, x: int, y: int) -> tuple[int, int]:
        """The virtual NoC coordinates of a logical core."""
        core = self.device.worker_core_from_logical_core(self.ttnn.CoreCoord(x, y))
        return core.x, core.y

    def program(
        self, kernels: Sequence[Any], cbs: Sequence[Any], semaphores: Sequence[tuple[int, Any, int]] = ()
    ) -> Any:
        """A program. ``semaphores``: (id, cores, initial value)."""
        t = self.ttnn
        return t.ProgramDescriptor(
            kernels=list(kernels),
            semaphores=[t.SemaphoreDescriptor(id=i, core_ranges=c, initial_value=v) for i, c, v in semaphores],
            cbs=list(cbs),
        )

    def run(self, tensors: Sequence[Any], program: Any) -> torch.Tensor:
        """Run and return the output's values."""
        return self.ttnn.to_torch(self.ttnn.generic_op(list(tensors), program))
