"""linear and matmul: one tiled product, with the engine's fidelity and accumulation."""

from __future__ import annotations

from harness.emulator.formats import BLOCK_BITS, FLOATS, TILE, DataType, half_away
from harness.emulator.numerics import sfpu
from harness.emulator.numerics.config import MathFidelity, WormholeComputeKernelConfig
from harness.emulator.numerics.engine import Engine
from harness.emulator.ttnn.checks import require, require_on_device, require_tile
from harness.emulator.ttnn.device import launch
from harness.emulator.ttnn.matmul_config import check
from harness.emulator.ttnn.tensor import Tensor, like
from harness.emulator.ttnn.types import MatmulMultiCoreReuseMultiCast1DProgramConfig, MemoryConfig, UnaryOpType


def linear(
    input_tensor_a: Tensor,
    input_tensor_b: Tensor,
    *,
    memory_config: MemoryConfig | None = None,
    dtype: DataType | None = None,
    program_config: MatmulMultiCoreReuseMultiCast1DProgramConfig | None = None,
    activation: str | None = None,
    compute_kernel_config: WormholeComputeKernelConfig | None = None,
) -> Tensor:
    """``a [..., M, K] @ b [K, N]`` with an optional activation ("silu")."""
    op = "matmul"
    a, b = input_tensor_a, input_tensor_b
    require_on_device(op, a=a, b=b)
    require_tile(op, a=a, b=b)
    require(a.shape.rank >= 2 and b.shape.rank >= 2, f"{op}: a vector operand is not modelled by the emulator")
    require(a.shape[-1] == b.shape[-2], f"{op}: a is {a.shape}, b is {b.shape}: {a.shape[-1]} is not {b.shape[-2]}")
    require(a.dtype in FLOATS and b.dtype in FLOATS, f"{op}: {a.dtype} @ {b.dtype}: both must be floating point")
    require(
        all(n == 1 for n in b.shape[:-2]),
        f"{op}: a batched second operand ({b.shape}) is not modelled by the emulator",
    )
    require(activation in (None, "silu"), f"{op}: activation {activation!r} is not modelled by the emulator")
    config = compute_kernel_config or _default_config(a, b, program_config is not None)
    fused = None
    if program_config is not None:
        check(op, a, b, dtype or a.dtype, program_config, config)
        fused = program_config.fused_activation
        modelled = fused is None or fused.op_type is UnaryOpType.SILU
        require(modelled, f"{op}: {fused} is not modelled by the emulator")
    engine = Engine.of(config)
    block = TILE * (program_config.in0_block_w if program_config else 1)
    result = like(a, (*a.shape[:-1], b.shape[-1]), dtype=dtype, memory_config=memory_config)

    def compute(left: Tensor, right: Tensor, target: Tensor) -> None:
        rows, weight = left.load().float(), right.load().float()
        weight = weight.view(weight.shape[-2:])
        values = engine.matmul_in_blocks(rows, weight, block) if config.packer_l1_acc else engine.matmul(rows, weight)
        if fused:
            values = sfpu.silu(values, engine.wide)
        if activation:  # an op of its own, on the result in bf16
            values = sfpu.silu(half_away(values, 8), wide=False)
        target.store(values)

    silu = bool(fused or activation)
    launch(op, [a, b], [result], compute, program_config=program_config, compute_kernel_config=config, silu=silu)
    return result


def _default_config(a: Tensor, b: Tensor, tuned: bool) -> WormholeComputeKernelConfig:
    """What ttnn takes where no compute config is given."""
    if DataType.FLOAT32 in (a.dtype, b.dtype):
        return WormholeComputeKernelConfig(math_fidelity=MathFidelity.HiFi4, fp32_dest_acc_en=True, packer_l1_acc=True)
    low = tuned or (a.dtype in BLOCK_BITS and b.dtype in BLOCK_BITS)
    return WormholeComputeKernelConfig(
        math_fidelity=MathFidelity.LoFi if low else MathFidelity.HiFi2, packer_l1_acc=True
    )


def matmul(input_tensor_a: Tensor, input_tensor_b: Tensor, **options: object) -> Tensor:
    """The same as ``linear``: neither takes a bias here."""
    return linear(input_tensor_a, input_tensor_b, **options)  # type: ignore[arg-type]
