"""How precisely a compute kernel works."""

from __future__ import annotations

from dataclasses import dataclass

from harness.emulator.formats import Named


class MathFidelity(Named):
    """Passes of the matrix engine over one product: each adds mantissa bits that the pass before left out."""

    Invalid = 255
    LoFi = 0
    HiFi2 = 2
    HiFi3 = 3
    HiFi4 = 4


@dataclass(frozen=True, kw_only=True)
class WormholeComputeKernelConfig:
    """Precision of an op's compute kernels: fidelity, 16- or 32-bit accumulation, accumulation in L1."""

    math_fidelity: MathFidelity = MathFidelity.Invalid
    math_approx_mode: bool = True
    fp32_dest_acc_en: bool = False
    packer_l1_acc: bool = False
    dst_full_sync_en: bool = False
