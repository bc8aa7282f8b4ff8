"""What makes a 1-D multicast matmul configuration legal."""

from __future__ import annotations

from harness.emulator.formats import TILE, DataType, Layout, page_bytes
from harness.emulator.memory import L1_BASE, L1_BYTES
from harness.emulator.numerics.config import WormholeComputeKernelConfig
from harness.emulator.ttnn.checks import require
from harness.emulator.ttnn.tensor import Tensor
from harness.emulator.ttnn.types import MatmulMultiCoreReuseMultiCast1DProgramConfig, core_coord


def check(
    op: str,
    a: Tensor,
    b: Tensor,
    dtype: DataType,
    config: MatmulMultiCoreReuseMultiCast1DProgramConfig,
    kernel: WormholeComputeKernelConfig,
) -> None:
    """Raise RuntimeError if ``config`` does not fit the operands, the grid, DEST or L1."""
    require(config.mcast_in0, f"{op}: mcast_in0=False is not modelled by the emulator")
    device = a.device()
    assert device is not None
    grid, limit = core_coord(config.compute_with_storage_grid_size), device.grid
    require(
        0 < grid.x <= limit.x and 0 < grid.y <= limit.y,
        f"{op}: a grid of {grid.x}x{grid.y} does not fit the device's {limit.x}x{limit.y}",
    )
    k_tiles, n_tiles = a.padded_shape[-1] // TILE, b.padded_shape[-1] // TILE
    m_tiles = a.padded_shape.volume() // a.padded_shape[-1] // TILE
    per_m, per_n, block_k = config.per_core_M, config.per_core_N, config.in0_block_w
    block_h = per_m if config.out_block_h is None else config.out_block_h
    block_w = per_n if config.out_block_w is None else config.out_block_w
    sub_h, sub_w = config.out_subblock_h, config.out_subblock_w
    sizes = {
        "in0_block_w": block_k,
        "per_core_M": per_m,
        "per_core_N": per_n,
        "out_block_h": block_h,
        "out_block_w": block_w,
        "out_subblock_h": sub_h,
        "out_subblock_w": sub_w,
    }
    for name, size in sizes.items():
        require(size > 0, f"{op}: {name} is {size}; it must be positive")
    require(k_tiles % block_k == 0, f"{op}: in0_block_w {block_k} does not divide the {k_tiles} tiles of K")
    blocks = -(-m_tiles // per_m) * -(-n_tiles // per_n)
    require(
        blocks <= grid.x * grid.y,
        f"{op}: {m_tiles}x{n_tiles} output tiles at {per_m}x{per_n} a core need {blocks} cores, "
        f"the grid has {grid.x * grid.y}",
    )
    require(per_m % block_h == 0, f"{op}: out_block_h {block_h} does not divide per_core_M {per_m}")
    require(per_n % block_w == 0, f"{op}: out_block_w {block_w} does not divide per_core_N {per_n}")
    require(block_h % sub_h == 0, f"{op}: out_subblock_h {sub_h} does not divide out_block_h {block_h}")
    require(block_w % sub_w == 0, f"{op}: out_subblock_w {sub_w} does not divide out_block_w {block_w}")
    room = 4 if kernel.fp32_dest_acc_en else 8
    room *= 2 if kernel.dst_full_sync_en else 1
    require(sub_h * sub_w <= room, f"{op}: a subblock of {sub_h}x{sub_w} tiles is more than the {room} that DEST holds")
    _check_l1(op, (a.dtype, b.dtype, dtype), (block_h, block_k, block_w), k_tiles // block_k, kernel)


def _check_l1(
    op: str,
    dtypes: tuple[DataType, DataType, DataType],
    block: tuple[int, int, int],
    blocks: int,
    kernel: WormholeComputeKernelConfig,
) -> None:
    """Operand blocks, twice where there is more than one, the output and the partial sums must fit a core."""
    a, b, out = (page_bytes(dtype, Layout.TILE, TILE) for dtype in dtypes)
    rows, inner, cols = block
    copies = 2 if blocks > 1 else 1
    partial = 4096 if kernel.fp32_dest_acc_en else 2048
    need = copies * inner * (rows * a + cols * b) + rows * cols * (out + partial)
    require(
        L1_BASE + need <= L1_BYTES,
        f"{op}: the circular buffers take {need} B, of a core's L1 {L1_BYTES - L1_BASE} B are free; "
        f"make in0_block_w or the output block smaller",
    )
