"""What changes from one trajectory to the next, held in device buffers that never move.

A captured trace bakes in addresses. So everything that depends on the number of valid cache rows S or on the
positions lives in buffers that are allocated once and rewritten in place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from harness.dtypes import device_dtype
from harness.errors import UsageError
from harness.positions import build_mask, expert_positions, rope_cos_sin
from harness.shape import LayerShape

ROWS_WORDS = 16  # 64 B, the alignment of a DRAM read on Blackhole


@dataclass(frozen=True)
class _Mask:
    rows: int
    dtype: str


class LayerContext:
    """Device buffers that carry (S, rope_delta, Smax) to the layers.

    cos, sin     bf16 TILE [1, 1, T, head_dim], rotary tables of the own positions
    valid_rows   uint32 ROW_MAJOR [1, 1, 1, 16]; word 0 is S
    mask(...)    additive mask [1, 1, rows, Smax], allocated when an implementation first asks for it

    `live_traces` tells how many captured traces exist; while there are any, nothing is allocated or moved.
    """

    def __init__(
        self, ttnn: Any, device: Any, shape: LayerShape, Smax: int, live_traces: Callable[[], int] = lambda: 0
    ) -> None:
        shape.check_context(1, Smax)
        self.ttnn, self.device, self.shape, self.Smax = ttnn, device, shape, Smax
        self._live_traces = live_traces
        self.S: int | None = None
        self.rope_delta: int | None = None
        self._masks: dict[_Mask, Any] = {}
        self.cos = self._allocate((1, 1, shape.tokens, shape.head_dim), "bf16")
        self.sin = self._allocate((1, 1, shape.tokens, shape.head_dim), "bf16")
        self.valid_rows = ttnn.allocate_tensor_on_device(
            ttnn.Shape([1, 1, 1, ROWS_WORDS]), ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT, device, ttnn.DRAM_MEMORY_CONFIG
        )

    def mask(self, rows: int, dtype: str) -> Any:
        """The persistent additive mask of `rows` query rows in `dtype`: 0 on valid and own rows, -1e9 elsewhere.

        The first call for a (rows, dtype) allocates it, so make it in `prepare`: after a capture it is refused.
        """
        key = _Mask(rows, dtype)
        if key not in self._masks:
            self._refuse_while_traced(f"a mask of {rows} rows in {dtype}")
            self._masks[key] = self._allocate((1, 1, rows, self.Smax), dtype)
            if self.S is not None:
                self._write_mask(key)
        return self._masks[key]

    def set_context(self, S: int, rope_delta: int, Smax: int | None = None, force: bool = False) -> None:
        """Rewrite the buffers for S valid rows and own positions `i + rope_delta + S`.

        Does nothing when nothing changed, unless `force` (another trace may have run over the buffers). Another
        Smax reallocates the masks, which is refused while a trace lives. Raises `UsageError` on an S that does
        not fit.
        """
        Smax = self.Smax if Smax is None else Smax
        self.shape.check_context(S, Smax)
        if (S, rope_delta, Smax) == (self.S, self.rope_delta, self.Smax) and not force:
            return
        if Smax != self.Smax:
            self._refuse_while_traced(f"masks for a cache of {Smax} rows instead of {self.Smax}")
            self.Smax = Smax
            for key, old in self._masks.items():
                self.ttnn.deallocate(old)
                self._masks[key] = self._allocate((1, 1, key.rows, Smax), key.dtype)
        self.S, self.rope_delta = S, rope_delta
        s = self.shape
        cos, sin = rope_cos_sin(expert_positions(S, rope_delta, s.tokens), s.head_dim, s.rope_theta)
        self._write(self.cos, cos)
        self._write(self.sin, sin)
        words = torch.zeros(1, 1, 1, ROWS_WORDS, dtype=torch.int32)
        words[..., 0] = S
        self._write(self.valid_rows, words)
        for key in self._masks:
            self._write_mask(key)

    def buffers(self) -> dict[str, Any]:
        """Every buffer by its name. A layer reads them and leaves them alone."""
        masks = {f"mask({key.rows}, {key.dtype})": mask for key, mask in self._masks.items()}
        return {"cos": self.cos, "sin": self.sin, "valid_rows": self.valid_rows, **masks}

    def _write_mask(self, key: _Mask) -> None:
        assert self.S is not None
        self._write(self._masks[key], build_mask(self.S, self.Smax, self.shape.tokens, key.rows))

    def _refuse_while_traced(self, what: str) -> None:
        if self._live_traces():
            raise UsageError(f"cannot allocate {what} while a captured trace lives; release the trace first")

    def _allocate(self, dims: tuple[int, ...], dtype: str) -> Any:
        t = self.ttnn
        return t.allocate_tensor_on_device(
            t.Shape(list(dims)), device_dtype(t, dtype), t.TILE_LAYOUT, self.device, t.DRAM_MEMORY_CONFIG
        )

    def _write(self, buffer: Any, values: torch.Tensor) -> None:
        host = self.ttnn.from_torch(values.reshape(tuple(buffer.shape)), dtype=buffer.dtype, layout=buffer.layout)
        self.ttnn.copy_host_to_device_tensor(host, buffer)
