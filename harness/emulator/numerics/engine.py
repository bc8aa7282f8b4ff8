"""One compute kernel's arithmetic: the engine under a compute configuration, buffers between the steps included.

Every step ends in a circular buffer: bf16 for 16-bit DEST; for 32-bit DEST fp32, of which the next step's unpacker
keeps 11 bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from harness.emulator.numerics import fpu, sfpu
from harness.emulator.numerics.matmul import matmul
from harness.emulator.ttnn.types import MathFidelity, WormholeComputeKernelConfig


@dataclass(frozen=True)
class Engine:
    """``wide``: 32-bit DEST. ``approximate``: the vector unit's short forms."""

    fidelity: MathFidelity
    wide: bool
    approximate: bool

    @classmethod
    def of(cls, config: WormholeComputeKernelConfig) -> Engine:
        """The engine under ``config``."""
        return cls(config.math_fidelity, config.fp32_dest_acc_en, config.math_approx_mode)

    def multiply(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Elementwise product."""
        return fpu.multiply(self._unpacked(a), self._unpacked(b), self.fidelity, self.wide)

    def add(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Elementwise sum."""
        return fpu.add(self._unpacked(a), self._unpacked(b), self.wide)

    def subtract(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Elementwise difference."""
        return fpu.add(self._unpacked(a), -self._unpacked(b), self.wide)

    def sum_rows(self, values: torch.Tensor) -> torch.Tensor:
        """Sums over the last dimension, ``[..., 1]``."""
        return fpu.sum_rows(self._unpacked(values), self.fidelity, self.wide)

    def matmul(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """``a @ b`` in one run over K."""
        return matmul(self._unpacked(a), self._unpacked(b), self.fidelity, self.wide)

    def matmul_in_blocks(self, a: torch.Tensor, b: torch.Tensor, block: int) -> torch.Tensor:
        """``a @ b`` where the packer adds up blocks of ``block`` k in L1; the last block runs on top of their sum."""
        partial: torch.Tensor | None = None
        pieces = list(zip(a.split(block, -1), b.split(block, -2), strict=True))
        for left, right in pieces[:-1]:
            here = self.matmul(left, right)
            partial = here if partial is None else self.in_l1(partial + here)
        left, right = pieces[-1]
        return matmul(self._unpacked(left), self._unpacked(right), self.fidelity, self.wide, partial)

    def in_l1(self, values: torch.Tensor) -> torch.Tensor:
        """A sum that the packer formed in L1."""
        return values if self.wide else sfpu.bf16(values)

    def _unpacked(self, values: torch.Tensor) -> torch.Tensor:
        return fpu.unpacked(values) if self.wide else values
