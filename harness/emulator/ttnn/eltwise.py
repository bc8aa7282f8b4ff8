"""add, multiply and silu."""

from __future__ import annotations

from collections.abc import Callable

import torch

from harness.emulator.formats import FLOATS, DataType, Layout
from harness.emulator.numerics import fpu, sfpu
from harness.emulator.numerics.config import MathFidelity
from harness.emulator.ttnn.checks import require, require_on_device, require_tile
from harness.emulator.ttnn.device import launch
from harness.emulator.ttnn.tensor import Tensor, like
from harness.emulator.ttnn.types import MemoryConfig


def add(
    input_tensor_a: Tensor,
    input_tensor_b: Tensor,
    *,
    memory_config: MemoryConfig | None = None,
    dtype: DataType | None = None,
) -> Tensor:
    """``a + b``; a dimension of 1 is broadcast."""
    return _binary("add", input_tensor_a, input_tensor_b, _add, memory_config, dtype)


def multiply(
    input_tensor_a: Tensor,
    input_tensor_b: Tensor,
    *,
    memory_config: MemoryConfig | None = None,
    dtype: DataType | None = None,
) -> Tensor:
    """``a * b``; a dimension of 1 is broadcast."""
    return _binary("multiply", input_tensor_a, input_tensor_b, _multiply, memory_config, dtype)


def silu(input_tensor: Tensor, *, memory_config: MemoryConfig | None = None) -> Tensor:
    """``x * sigmoid(x)``."""
    require_on_device("silu", input=input_tensor)
    require_tile("silu", input=input_tensor)
    require(input_tensor.dtype in FLOATS, f"silu: {input_tensor.dtype} is no floating-point dtype")
    result = like(input_tensor, memory_config=memory_config)

    def compute(source: Tensor, target: Tensor) -> None:
        target.store(sfpu.silu(source.load().float(), wide=source.dtype is DataType.FLOAT32))

    launch("silu", [input_tensor], [result], compute)
    return result


def _binary(
    op: str,
    a: Tensor,
    b: Tensor,
    function: Callable[[torch.Tensor, torch.Tensor, set[DataType], bool], torch.Tensor],
    memory_config: MemoryConfig | None,
    dtype: DataType | None,
) -> Tensor:
    require(
        isinstance(a, Tensor) and isinstance(b, Tensor), f"{op}: a number as operand is not modelled by the emulator"
    )
    require_on_device(op, a=a, b=b)
    rows = Layout.ROW_MAJOR in (a.layout, b.layout)
    require(not rows, f"{op}: a row-major operand is not modelled by the emulator")
    require(a.dtype in FLOATS and b.dtype in FLOATS, f"{op}: {a.dtype} and {b.dtype} are not modelled by the emulator")
    try:
        shape = torch.broadcast_shapes(tuple(a.shape), tuple(b.shape))
    except RuntimeError:
        raise RuntimeError(
            f"{op}: shapes {a.shape} and {b.shape} do not match, and no dimension of 1 bridges them"
        ) from None
    result = like(a, shape, dtype=dtype, memory_config=memory_config)

    def compute(left: Tensor, right: Tensor, target: Tensor) -> None:
        operands = _broadcastable(left), _broadcastable(right)
        inputs = {left.dtype, right.dtype}
        values = function(*operands, inputs, DataType.FLOAT32 in inputs | {target.dtype})
        target.store(values.expand(tuple(target.padded_shape)))

    launch(op, [a, b], [result], compute)
    return result


def _add(a: torch.Tensor, b: torch.Tensor, inputs: set[DataType], wide: bool) -> torch.Tensor:
    if inputs == {DataType.FLOAT32}:  # the vector unit's work
        return a + b
    return fpu.add(a, b, wide)


def _multiply(a: torch.Tensor, b: torch.Tensor, inputs: set[DataType], wide: bool) -> torch.Tensor:
    if inputs == {DataType.FLOAT32}:  # the vector unit's work
        return a * b
    if inputs == {DataType.BFLOAT16} and not wide:  # so is this
        return sfpu.bf16(a * b)
    return fpu.multiply(a, b, MathFidelity.HiFi4, wide)


def _broadcastable(tensor: Tensor) -> torch.Tensor:
    """The values, dimensions of logical size 1 without their padding."""
    values = tensor.load().float()
    for dim in range(-min(tensor.shape.rank, 2), 0):
        if tensor.shape[dim] == 1:
            values = values.narrow(dim, 0, 1)
    return values
