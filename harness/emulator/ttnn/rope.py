"""rotary_embedding_hf."""

from __future__ import annotations

import torch

from harness.emulator.formats import TILE
from harness.emulator.numerics.config import MathFidelity, WormholeComputeKernelConfig
from harness.emulator.numerics.engine import Engine
from harness.emulator.ttnn.checks import require, require_on_device, require_tile
from harness.emulator.ttnn.device import launch
from harness.emulator.ttnn.tensor import Tensor, like
from harness.emulator.ttnn.types import MemoryConfig

DEFAULT = WormholeComputeKernelConfig(math_fidelity=MathFidelity.HiFi4)


def rotary_embedding_hf(
    input_tensor: Tensor,
    cos_cache: Tensor,
    sin_cache: Tensor,
    *,
    is_decode_mode: bool = False,
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: WormholeComputeKernelConfig | None = None,
) -> Tensor:
    """``x * cos + rotate_half(x) * sin`` for ``x [1, heads, S, head_dim]`` and tables ``[1, 1, S, head_dim]``."""
    op = "rotary_embedding_hf"
    require(not is_decode_mode, f"{op}: is_decode_mode=True is not modelled by the emulator")
    x = input_tensor
    require_on_device(op, input=x, cos=cos_cache, sin=sin_cache)
    require_tile(op, input=x, cos=cos_cache, sin=sin_cache)
    require(
        x.shape.rank == 4 and x.shape[0] == 1,
        f"{op}: an input of {x.shape} is not modelled by the emulator; it must be [1, heads, S, head_dim]",
    )
    width = x.padded_shape[-1]
    require(width == TILE or width % (2 * TILE) == 0, f"{op}: head_dim {width} must be 32 or a multiple of 64")
    require(cos_cache.shape == sin_cache.shape, f"{op}: cos is {cos_cache.shape}, sin is {sin_cache.shape}")
    require(
        all(n == 1 for n in cos_cache.shape[:-2]),
        f"{op}: the tables must be [1, 1, S, head_dim], not {cos_cache.shape}",
    )
    require(
        cos_cache.shape[-1] == x.shape[-1] and cos_cache.shape[-2] >= x.shape[-2],
        f"{op}: tables of {cos_cache.shape} do not cover an input of {x.shape}",
    )
    config = compute_kernel_config or DEFAULT
    engine = Engine.of(config, bf16_buffers=True)
    result = like(x, memory_config=memory_config)

    def compute(source: Tensor, cos: Tensor, sin: Tensor, target: Tensor) -> None:
        values = source.load().float()
        rows = values.shape[-2]
        first, second = values.chunk(2, -1)
        rotated = torch.cat([-second, first], -1)
        cosines, sines = (t.load()[..., :rows, :].float() for t in (cos, sin))
        target.store(engine.add(engine.multiply(values, cosines), engine.multiply(rotated, sines)))

    launch(op, [x, cos_cache, sin_cache], [result], compute, compute_kernel_config=config)
    return result
