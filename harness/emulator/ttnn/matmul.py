"""linear and matmul: one tiled product, with the engine's fidelity and accumulation."""

from __future__ import annotations

from harness.emulator import fpu, sfpu
from harness.emulator.formats import TILE, DataType
from harness.emulator.ttnn.checks import require, require_on_device, require_tile
from harness.emulator.ttnn.device import launch
from harness.emulator.ttnn.tensor import Tensor, like
from harness.emulator.ttnn.types import (
    MathFidelity,
    MatmulMultiCoreReuseMultiCast1DProgramConfig,
    MemoryConfig,
    UnaryOpType,
    WormholeComputeKernelConfig,
    core_coord,
)

DEFAULT = WormholeComputeKernelConfig(math_fidelity=MathFidelity.HiFi2, packer_l1_acc=True)


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
    require(a.shape.rank >= 2 and b.shape.rank >= 2, f"{op}: both operands need at least two dimensions")
    require(a.shape[-1] == b.shape[-2], f"{op}: a is {a.shape}, b is {b.shape}: {a.shape[-1]} is not {b.shape[-2]}")
    require(
        all(n == 1 for n in b.shape[:-2]),
        f"{op}: a batched second operand ({b.shape}) is not modelled by the emulator",
    )
    require(activation in (None, "silu"), f"{op}: activation {activation!r} is not modelled by the emulator")
    fused = activation is not None
    if program_config is not None:
        require(activation is None, f"{op}: with a program config the activation goes into its fused_activation")
        _check_1d(op, a, b, program_config)
        fused = program_config.fused_activation is not None
        require(
            not fused or program_config.fused_activation.op_type is UnaryOpType.SILU,  # type: ignore[union-attr]
            f"{op}: {program_config.fused_activation} is not modelled by the emulator",
        )
    config = compute_kernel_config or DEFAULT
    result = like(a, (*a.shape[:-1], b.shape[-1]), dtype=dtype, memory_config=memory_config)

    def compute(left: Tensor, right: Tensor, target: Tensor) -> None:
        rows, weight = left.load().float(), right.load().float()
        weight = weight.view(weight.shape[-2:])
        values = fpu.matmul_fp32(rows, weight, config.math_fidelity)
        target.store(sfpu.silu(values) if fused else values)

    launch(op, [a, b], [result], compute, program_config=program_config, compute_kernel_config=config, silu=fused)
    return result


def matmul(input_tensor_a: Tensor, input_tensor_b: Tensor, **options: object) -> Tensor:
    """The same as ``linear``: neither takes a bias here."""
    return linear(input_tensor_a, input_tensor_b, **options)  # type: ignore[arg-type]


def _check_1d(op: str, a: Tensor, b: Tensor, config: MatmulMultiCoreReuseMultiCast1DProgramConfig) -> None:
    """Refuse a 1-D multicast configuration that does not fit the operands."""
    require(config.mcast_in0, f"{op}: mcast_in0=False is not modelled by the emulator")
    require(config.fuse_batch, f"{op}: fuse_batch=False is not modelled by the emulator")
    device = a.device()
    assert device is not None
    grid, limit = core_coord(config.compute_with_storage_grid_size), device.grid
    require(
        0 < grid.x <= limit.x and 0 < grid.y <= limit.y,
        f"{op}: a grid of {grid.x}x{grid.y} does not fit the device's {limit.x}x{limit.y}",
    )
    k_tiles, n_tiles = a.padded_shape[-1] // TILE, b.padded_shape[-1] // TILE
    m_tiles = a.padded_shape.volume() // a.padded_shape[-1] // TILE
    per_m, per_n = config.per_core_M, config.per_core_N
    require(config.in0_block_w > 0 and per_m > 0 and per_n > 0, f"{op}: block sizes must be positive")
    require(
        k_tiles % config.in0_block_w == 0,
        f"{op}: in0_block_w {config.in0_block_w} does not divide the {k_tiles} tiles of K",
    )
    require(
        m_tiles <= per_m,
        f"{op}: per_core_M {per_m} is less than the {m_tiles} tiles of M, which in0's multicast shares",
    )
    cores = -(-n_tiles // per_n)
    require(
        cores <= grid.x * grid.y,
        f"{op}: {n_tiles} tiles of N at per_core_N {per_n} need {cores} cores, the grid has {grid.x * grid.y}",
    )
    block_h = per_m if config.out_block_h is None else config.out_block_h
    block_w = per_n if config.out_block_w is None else config.out_block_w
    require(block_h > 0 and per_m % block_h == 0, f"{op}: out_block_h {block_h} does not divide per_core_M {per_m}")
    require(block_w > 0 and per_n % block_w == 0, f"{op}: out_block_w {block_w} does not divide per_core_N {per_n}")
    sub_h, sub_w = config.out_subblock_h, config.out_subblock_w
    require(sub_h > 0 and block_h % sub_h == 0, f"{op}: out_subblock_h {sub_h} does not divide out_block_h {block_h}")
    require(sub_w > 0 and block_w % sub_w == 0, f"{op}: out_subblock_w {sub_w} does not divide out_block_w {block_w}")
