"""rms_norm."""

from __future__ import annotations

import torch

from harness.emulator.formats import TILE, DataType, Layout, page_bytes
from harness.emulator.memory import L1_BASE, L1_BYTES
from harness.emulator.numerics import sfpu
from harness.emulator.numerics.config import MathFidelity, WormholeComputeKernelConfig
from harness.emulator.numerics.engine import Engine
from harness.emulator.ttnn.checks import require, require_on_device, require_tile
from harness.emulator.ttnn.device import launch
from harness.emulator.ttnn.tensor import Tensor, like
from harness.emulator.ttnn.types import MemoryConfig

DTYPES = (DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B)
FIXED_TILES = 80
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
    require(input_tensor.dtype in DTYPES, f"{op}: the input is {input_tensor.dtype}; bf16, fp32 and bfp8 are supported")
    width = input_tensor.shape[-1]
    if weight is not None:
        require(weight.layout is Layout.TILE, f"{op}: a row-major weight is not modelled by the emulator")
        require(
            weight.shape[-1] == width, f"{op}: the weight has {weight.shape[-1]} values, the input a width of {width}"
        )
        require(weight.padded_shape[-2] == TILE, f"{op}: the weight must be one row, not {weight.shape}")
    config = compute_kernel_config or DEFAULT
    engine = Engine.of(config)
    in_blocks = _in_blocks(input_tensor, weight) and not engine.wide
    result = like(input_tensor, memory_config=memory_config)

    def compute(source: Tensor, *rest: Tensor) -> None:
        *gamma, target = rest
        x = source.load().float()
        squares = sfpu.rounded(x * x) if in_blocks else engine.multiply(x, x)
        squares[..., width:] = 0  # the padding of the last tile
        values = _normalized(x, squares, width, epsilon, engine)
        target.store(engine.multiply(values, gamma[0].load()[..., :1, :].float()) if gamma else values)

    inputs = [input_tensor] if weight is None else [input_tensor, weight]
    launch(op, inputs, [result], compute, epsilon=epsilon, compute_kernel_config=config)
    return result


def _in_blocks(x: Tensor, weight: Tensor | None) -> bool:
    """Whether a row is too wide for L1. ttnn then runs a kernel that works by blocks and squares on the vector unit.

    L1 holds the row, its squares, the weight and buffers of fixed size; bf16 rows of 6656 values fit, of 6816 do not.
    """
    tile = page_bytes(DataType.BFLOAT16, Layout.TILE, TILE)
    columns = page_bytes(x.dtype, Layout.TILE, TILE) + (1 if weight is None else 2) * tile
    return x.padded_shape[-1] // TILE * columns + FIXED_TILES * tile > L1_BYTES - L1_BASE


def _normalized(x: torch.Tensor, squares: torch.Tensor, width: int, epsilon: float, engine: Engine) -> torch.Tensor:
    total = engine.sum_rows(squares)
    mean = sfpu.store(total * torch.tensor(1 / width), engine.wide)
    eps = torch.tensor(epsilon)
    variance = engine.add(mean, eps if engine.wide else sfpu.bf16(eps))
    return engine.multiply(x, sfpu.rsqrt(variance, engine.approximate, engine.wide))
