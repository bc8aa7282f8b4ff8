"""Matrix products as they lie in DEST. Operands and sums: see ``fpu``; here products come in batches."""

from __future__ import annotations

import torch

from harness.emulator.formats import FACE, TILE
from harness.emulator.fpu import PASSES, SRC_A_BITS, SRC_B_BITS, cut
from harness.emulator.ttnn.types import MathFidelity

GROUP = 8  # products that are aligned to one another before they are summed
BLOCK = 1 << 17  # outputs at a time, so that the temporaries of a step stay in the cache


def matmul(
    src_b: torch.Tensor,
    src_a: torch.Tensor,
    fidelity: MathFidelity,
    wide: bool,
    dest: torch.Tensor | None = None,
) -> torch.Tensor:
    """``src_b [..., M, K] @ src_a [..., K, N]``, added to ``dest`` if there is one. fp32 tensors of bf16 values.

    In 32-bit DEST the rounding of the single sums, far below a bf16's, is left out. In 16-bit DEST it decides the result:
    there the sums of eight are aligned and rounded as the engine does, only the alignment within the eight is left out.
    """
    if wide:
        total = _wide(src_b, src_a, fidelity)
        return total if dest is None else total + dest
    batch = torch.broadcast_shapes(src_b.shape[:-2], src_a.shape[:-2])
    rows, cols = src_b.shape[-2], src_a.shape[-1]
    left = src_b.expand(*batch, *src_b.shape[-2:]).reshape(-1, *src_b.shape[-2:])
    right = src_a.expand(*batch, *src_a.shape[-2:]).reshape(-1, *src_a.shape[-2:])
    result = torch.zeros(len(left), rows, cols) if dest is None else dest.reshape(-1, rows, cols).clone()
    width = min(cols, max(TILE, BLOCK // rows // TILE * TILE))
    depth = max(1, BLOCK // (rows * width))
    for i in range(0, len(left), depth):
        for j in range(0, cols, width):
            block = result[i : i + depth, :, j : j + width]
            block.copy_(_narrow(left[i : i + depth], right[i : i + depth, :, j : j + width], fidelity, block))
    return result.view(*batch, rows, cols)


def _wide(src_b: torch.Tensor, src_a: torch.Tensor, fidelity: MathFidelity) -> torch.Tensor:
    b = cut(src_b, SRC_B_BITS)
    if fidelity is MathFidelity.LoFi:
        return b @ cut(src_a, SRC_A_BITS)
    total = b @ src_a
    if fidelity is MathFidelity.HiFi3:
        total += (src_b - b) @ cut(src_a, SRC_A_BITS)
    elif fidelity is MathFidelity.HiFi4:
        total += (src_b - b) @ src_a
    return total


def _narrow(src_b: torch.Tensor, src_a: torch.Tensor, fidelity: MathFidelity, dest: torch.Tensor) -> torch.Tensor:
    """16-bit DEST after ``src_b [n, M, K] @ src_a [n, K, N]``. Works in units of the last bit the alignment keeps."""
    a, b = cut(src_a, SRC_A_BITS), cut(src_b, SRC_B_BITS)
    a_low, b_low = src_a - a, src_b - b
    parts = [(b, a, 1.0), (b, a_low, 2.0**5), (b_low, a, 2.0**7), (b_low, a_low, 2.0**12)][: PASSES[fidelity]]
    b_power, a_power = _fourth_power(src_b), _fourth_power(src_a)
    dest = dest.contiguous().clone()
    half = torch.tensor(0.5)
    for tile in range(0, src_b.shape[-1], TILE):
        groups = [slice(k, k + GROUP) for k in range(tile, tile + TILE, GROUP)]
        units = [_unit(b_power[..., k] @ a_power[:, k]) for k in groups]
        for left, right, finer in parts:
            for first in range(0, TILE // GROUP, FACE // GROUP):
                unit = _dest_unit(dest)
                for i in range(first, first + FACE // GROUP):
                    torch.minimum(unit, units[i] * finer if finer > 1 else units[i], out=unit)
                dest.mul_(unit).round_()
                for i in range(first, first + FACE // GROUP):
                    sums = left[..., groups[i]] @ right[:, groups[i]]
                    dest += torch.addcmul(half, sums, unit, out=sums).floor_()
                dest.div_(unit)
                dest.view(torch.int32).add_(0x8000).bitwise_and_(-0x10000)
    return dest


def _fourth_power(values: torch.Tensor) -> torch.Tensor:
    """16 to the exponents of ``values``. Summed over eight products it still shows the largest one's exponent."""
    field = (values.contiguous().view(torch.int32) >> 23) & 0xFF
    return torch.where(field == 0, 0, ((field - 127) * 4 + 127).clamp(1, 254) << 23).view(torch.float32)


def _unit(fourth_powers: torch.Tensor) -> torch.Tensor:
    """2 ** (10 - e), e the largest exponent among eight products, from the sum of their fourth powers."""
    field = fourth_powers.mul_(2).view(torch.int32).bitwise_right_shift_(25)  # e + 32
    return field.neg_().add_(169).bitwise_left_shift_(23).view(torch.float32)


def _dest_unit(dest: torch.Tensor) -> torch.Tensor:
    """2 ** (10 - e), e the exponents of ``dest``."""
    field = (dest.view(torch.int32) & 0x7F800000).clamp_(min=27 << 23)
    return field.neg_().add_((264 << 23) - (1 << 32)).view(torch.float32)  # 32-bit sums wrap
