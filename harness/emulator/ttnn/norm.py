"""rms_norm."""

from __future__ import annotations

import torch

from harness.emulator.formats import TILE, Layout
from harness.emulator.ttnn.checks import require, require_on_device, require_tile
from harness.emulator.ttnn.device import launch
from harness.emulator.ttnn.tensor import Tensor, like
from harness.emulator.ttnn.types import MathFidelity, MemoryConfig, WormholeComputeKernelConfig

DEFAULT = WormholeComputeKernelConfig(math_fidelity=MathFidelity.HiFi4)


def rms_norm(
    input_tensor: Tensor,
    *,
    epsilon: float = 1e-12,
    weight: Tensor | None = None,
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: WormholeComputeKernelConfig | None = None,
) -> Tensor:
    """``x / sqrt(mean(x^2) + epsilon) * weight`` over the last dimension."""
    op = "rms_norm"
    require_on_device(op, input=input_tensor, weight=weight)
    require_tile(op, input=input_tensor)
    width = input_tensor.shape[-1]
    if weight is not None:
        require(weight.layout is Layout.TILE, f"{op}: a row-major weight is not modelled by the emulator")
        require(
            weight.shape[-1] == width, f"{op}: the weight has {weight.shape[-1]} values, the input a width of {width}"
        )
        require(weight.padded_shape[-2] == TILE, f"{op}: the weight must be one row, not {weight.shape}")
    config = compute_kernel_config or DEFAULT
    result = like(input_tensor, memory_config=memory_config)

    def compute(source: Tensor, *rest: Tensor) -> None:
        *gamma, target = rest
        x = source.load().float()
        scale = torch.rsqrt((x * x).sum(-1, keepdim=True) / width + epsilon)
        values = x * scale
        if gamma:
            values = values * gamma[0].load()[..., :1, :].float()
        target.store(values)

    inputs = [input_tensor] if weight is None else [input_tensor, weight]
    launch(op, inputs, [result], compute, epsilon=epsilon, compute_kernel_config=config)
    return result
