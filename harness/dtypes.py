"""Number formats by the short names of the command line."""

from __future__ import annotations

from typing import Any

from harness.errors import UsageError

DTYPES = {"bf16": "bfloat16", "bfp8": "bfloat8_b", "bfp4": "bfloat4_b", "fp32": "float32"}
TILE_BYTES = {"bf16": 2048, "bfp8": 1088, "bfp4": 576, "fp32": 4096, "uint32": 4096}


def device_dtype(ttnn: Any, name: str) -> Any:
    """`bf16`, `bfp8`, `bfp4` or `fp32` -> the ttnn dtype of that name."""
    if name not in DTYPES:
        raise UsageError(f"unknown dtype {name!r}; known: {', '.join(DTYPES)}")
    return getattr(ttnn, DTYPES[name])


def to_device(ttnn: Any, device: Any, tensor: Any, dtype: str) -> Any:
    """A torch tensor as a TILE tensor of `dtype` in DRAM."""
    return ttnn.from_torch(
        tensor,
        dtype=device_dtype(ttnn, dtype),
        layout=ttnn.TILE_LAYOUT,
        device=device,
        memory_config=ttnn.DRAM_MEMORY_CONFIG,
    )
