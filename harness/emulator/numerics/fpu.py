"""What the matrix engine does to operands and sums, elementwise and along rows.

Operands. One pass multiplies the top 5 bits of SrcA's significand (leading one included) by the top 7 of SrcB's; a
higher fidelity adds passes over the bits left out: HiFi2 SrcA's low bits, HiFi3 SrcB's, HiFi4 both. Elementwise the
first operand goes to SrcA; in a matmul it goes to SrcB and the second to SrcA, so HiFi2 cuts a bf16 activation to 7
bits and uses the weight in full.

Sums. A product enters with 10 bits below its own exponent. Products of eight neighbours in k are aligned to the largest
of them, two such sums to DEST, and DEST keeps 24 bits of the result, or 8 in 16-bit mode, after every 16 k and every
pass, rounding half away from zero.

``wide`` says that DEST has 32 bits. Operands are fp32 tensors of at most 11 significant bits: bf16, or fp32 unpacked.
"""

from __future__ import annotations

import torch

from harness.emulator.formats import TILE, half_away
from harness.emulator.numerics.config import MathFidelity

SRC_A_BITS, SRC_B_BITS = 5, 7
PRODUCT_BITS = 10
PASSES = {MathFidelity.LoFi: 1, MathFidelity.HiFi2: 2, MathFidelity.HiFi3: 3, MathFidelity.HiFi4: 4}
_TINY = -100  # exponents below count as this


def cut(values: torch.Tensor, significand: int) -> torch.Tensor:
    """``values`` with all but the top ``significand`` bits of the significand set to zero."""
    return (values.contiguous().view(torch.int32) & -(1 << (24 - significand))).view(torch.float32)


def unpacked(values: torch.Tensor, wide: bool) -> torch.Tensor:
    """fp32 values as the unpacker hands them to the engine: 11 bits of them, 8 for 16-bit DEST."""
    return cut(values, 11 if wide else 8)


def passes(src_a: torch.Tensor, src_b: torch.Tensor, fidelity: MathFidelity) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """(part of SrcA, part of SrcB) of each pass, in the engine's order."""
    a, b = cut(src_a, SRC_A_BITS), cut(src_b, SRC_B_BITS)
    a_low, b_low = cut(src_a, 2 * SRC_A_BITS) - a, src_b - b
    return [(a, b), (a_low, b), (a, b_low), (a_low, b_low)][: PASSES[fidelity]]


def multiply(src_a: torch.Tensor, src_b: torch.Tensor, fidelity: MathFidelity, wide: bool) -> torch.Tensor:
    """Elementwise product, as it lies in DEST."""
    parts = passes(src_a, src_b, fidelity)
    dest = parts[0][0] * parts[0][1]
    if wide:  # 24 bits hold every partial sum
        for a, b in parts[1:]:
            dest = dest + a * b
        return dest
    dest = half_away(dest, 8)
    for a, b in parts[1:]:
        unit = power(PRODUCT_BITS - exponent(dest))
        dest = half_away(dest + torch.floor(torch.addcmul(unit.new_full((), 0.5), a * b, unit)) / unit, 8)
    return dest


def add(src_a: torch.Tensor, src_b: torch.Tensor, wide: bool) -> torch.Tensor:
    """Elementwise sum, as it lies in DEST: the smaller operand is aligned to the larger first."""
    unit = power(PRODUCT_BITS - exponent(torch.maximum(src_a.abs(), src_b.abs())))
    total = (_ties_away(src_a * unit) + _ties_away(src_b * unit)) / unit
    return total if wide else half_away(total, 8)


def sum_rows(values: torch.Tensor, fidelity: MathFidelity, wide: bool) -> torch.Tensor:
    """Sums over the last dimension (whole tiles), ``[..., 1]``: the engine multiplies by a column of ones."""
    top = cut(values, SRC_B_BITS)
    parts = [(top, 0)]
    if PASSES[fidelity] > 2:  # a one has no low bits, so the passes over SrcA's add nothing
        parts.append((values - top, -7))
    if wide:
        values, parts = values.double(), [(part.double(), offset) for part, offset in parts]
    own = exponent(values)
    eights = [_sums_of_eight(part, own + offset) for part, offset in parts]
    dest = torch.zeros(values.shape[:-1], dtype=values.dtype)
    for first in range(0, values.shape[-1] // 8, TILE // 8):
        for sums, tops in eights:
            for i in (first, first + 2):
                dest = _into_dest(dest, sums[..., i : i + 2], tops[..., i : i + 2], wide)
    return dest.float().unsqueeze(-1)


def _sums_of_eight(products: torch.Tensor, exponents: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Sums of eight neighbours, and the exponents they were aligned to."""
    top = exponents.unflatten(-1, (-1, 8)).amax(-1)
    unit = power(PRODUCT_BITS - top, products.dtype)
    return _ties_away(products.unflatten(-1, (-1, 8)) * unit.unsqueeze(-1)).sum(-1) / unit, top


def _into_dest(dest: torch.Tensor, sums: torch.Tensor, tops: torch.Tensor, wide: bool) -> torch.Tensor:
    """DEST after adding two sums of eight. 32-bit DEST needs fp64 operands."""
    top = torch.maximum(exponent(dest), tops.amax(-1))
    fine = power(23 - top, dest.dtype)
    total, terms = _ties_away(dest * fine), torch.floor(sums * fine.unsqueeze(-1) + 0.5)
    if not wide:
        total, terms, fine = _ties_away(total / 8192), torch.floor(terms / 8192 + 0.5), fine / 8192
    total = (total + terms.sum(-1)) / fine
    if not wide:
        return half_away(total, 8)
    last = power(23 - exponent(total), dest.dtype)
    return _ties_away(total * last) / last


def exponent(values: torch.Tensor) -> torch.Tensor:
    """floor(log2 |values|), integer."""
    if values.dtype is torch.float64:
        return (((values.view(torch.int64) >> 52) & 0x7FF) - 1023).clamp_(min=_TINY)
    return (((values.contiguous().view(torch.int32) >> 23) & 0xFF) - 127).clamp_(min=_TINY)


def power(exponents: torch.Tensor, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """2 to the ``exponents``."""
    if dtype is torch.float64:
        return ((exponents.long() + 1023) << 52).view(torch.float64)
    return ((exponents + 127).clamp_(max=254) << 23).view(torch.float32)


def _ties_away(values: torch.Tensor) -> torch.Tensor:
    return torch.trunc(values + torch.copysign(values.new_full((), 0.5), values))
