"""A view of ttnn that converts a tensor once: the next time, and in the next run, it comes from the cache.

What is expensive was measured. At the real size a layer's bfp8 projections take 1.8 s to convert on the emulator and
0.3 s by the real ttnn (64 layers: 115 and 20 s); hashing the values they come from takes 0.04 s, loading them 0.1 s.
bf16 is only a reordering, as fast as reading a file. So block floats are kept, and nothing else.

The key is made of the values themselves, their dtype and the converter. Whatever an implementation sends up, in
whatever layout, is found again if and only if it is the same: no name, date or version of a checkpoint can be mistaken.

The files are ttnn's own (`dump_tensor`): tiles packed as the device has them, on the emulator and the real ttnn alike.
ttnn's `as_tensor(cache_file_name=...)` is not used: on a hit it looks at neither content nor shape.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import torch

from harness.emulator import formats
from harness.expert.cache import TensorCache
from harness.targets import Target
from harness.targets.target import TTNN_VERSION


class Conversions:
    """`ttnn`, with `from_torch` going through `cache` for block floats.

    converter   who converts: part of the key, for two may round differently
    """

    def __init__(self, ttnn: Any, cache: TensorCache, converter: str) -> None:
        self._ttnn, self._cache, self._converter = ttnn, cache, converter
        self._kept = {ttnn.bfloat8_b: "bfp8", ttnn.bfloat4_b: "bfp4"}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ttnn, name)

    def from_torch(self, tensor: torch.Tensor, dtype: Any = None, **options: Any) -> Any:
        """ttnn's `from_torch`; a block float on its way to the device is converted at most once."""
        device, memory = options.get("device"), options.get("memory_config")
        if dtype not in self._kept or device is None or set(options) - {"device", "memory_config", "layout"}:
            return self._ttnn.from_torch(tensor, dtype=dtype, **options)
        name = self._kept[dtype]
        key = self.key(tensor, name)
        if path := self._cache.find(key):
            return self._ttnn.to_device(self._ttnn.load_tensor(str(path)), device, memory_config=memory)
        converted = self._ttnn.from_torch(tensor, dtype=dtype, **options)
        # Converted on the way to the device (the real ttnn makes block floats nowhere else), so it comes from there.
        what = f"{'x'.join(map(str, tensor.shape))}-{name}"
        self._cache.add(key, what, lambda aside: self._ttnn.dump_tensor(str(aside), converted.cpu()))
        return converted

    def key(self, tensor: torch.Tensor, dtype: str) -> str:
        """Of `tensor` converted to `dtype`."""
        values = tensor.detach().contiguous()
        key = hashlib.sha256(f"{self._converter} {tuple(values.shape)} {values.dtype} {dtype}".encode())
        key.update(values.view(torch.uint8).numpy().data)
        return key.hexdigest()[:32]


def converter_of(target: Target) -> str:
    """Who converts on `target`: the real ttnn by its version, the emulator by the source that rounds."""
    if target.name != "emulator":
        return f"ttnn {TTNN_VERSION}"
    return f"emulator {hashlib.sha256(Path(formats.__file__).read_bytes()).hexdigest()}"
