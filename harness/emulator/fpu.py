"""What the matrix engine does to operands and sums.

One pass multiplies the top 5 bits of SrcA's significand (11 bits with the leading one) by the top 7 of SrcB's; the passes of
a higher fidelity add the products with the bits left out: HiFi2 SrcA's low bits, HiFi3 SrcB's, HiFi4 both. In a matmul the
first operand goes to SrcB and the second to SrcA. So HiFi2 cuts a bf16 activation to 7 bits and uses the weight in full.
"""

from __future__ import annotations

import torch

from harness.emulator.ttnn.types import MathFidelity

SRC_A_BITS, SRC_B_BITS = 5, 7


def cut(values: torch.Tensor, significand: int) -> torch.Tensor:
    """fp32 ``values`` with all but the top ``significand`` bits of the significand set to zero."""
    return (values.contiguous().view(torch.int32) & -(1 << (24 - significand))).view(torch.float32)


def passes(src_b: torch.Tensor, src_a: torch.Tensor, fidelity: MathFidelity) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """The pairs (SrcB part, SrcA part) whose products a fidelity sums, in the engine's order."""
    a_top, b_top = cut(src_a, SRC_A_BITS), cut(src_b, SRC_B_BITS)
    a_low, b_low = src_a - a_top, src_b - b_top
    pairs = [(b_top, a_top), (b_top, a_low), (b_low, a_top), (b_low, a_low)]
    return pairs[: {MathFidelity.LoFi: 1, MathFidelity.HiFi2: 2, MathFidelity.HiFi3: 3}.get(fidelity, 4)]


def matmul_fp32(src_b: torch.Tensor, src_a: torch.Tensor, fidelity: MathFidelity) -> torch.Tensor:
    """``src_b @ src_a`` accumulated in 32 bits; the rounding of the single sums is below the result's own."""
    if fidelity is MathFidelity.LoFi:
        return cut(src_b, SRC_B_BITS) @ cut(src_a, SRC_A_BITS)
    if fidelity is MathFidelity.HiFi2:
        return cut(src_b, SRC_B_BITS) @ src_a
    if fidelity is MathFidelity.HiFi3:
        return cut(src_b, SRC_B_BITS) @ src_a + (src_b - cut(src_b, SRC_B_BITS)) @ cut(src_a, SRC_A_BITS)
    return src_b @ src_a
