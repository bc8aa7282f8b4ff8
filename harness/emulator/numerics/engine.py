"""One compute kernel's arithmetic: the matrix engine under a compute configuration, buffers between the steps included.

A step ends in a circular buffer. With 16-bit DEST it holds bf16. With 32-bit DEST it holds what the kernel chose: fp32,
of which the next step's unpacker keeps 11 bits, or bf16 all the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from harness.emulator.formats import half_away
from harness.emulator.numerics import fpu, sfpu
from harness.emulator.numerics.config import MathFidelity, WormholeComputeKernelConfig
from harness.emulator.numerics.matmul import matmul


@dataclass(frozen=True)
class Engine:
    """``wide``: 32-bit DEST. ``approximate``: the vector unit's short forms. ``bf16_buffers``: bf16 between steps."""

    fidelity: MathFidelity
    wide: bool
    approximate: bool
    bf16_buffers: bool

    @classmethod
    def of(cls, config: WormholeComputeKernelConfig, bf16_buffers: bool = False) -> Engine:
        """The engine under ``config``."""
        return cls(config.math_fidelity, config.fp32_dest_acc_en, config.math_approx_mode, bf16_buffers)

    def multiply(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Elementwise product."""
        return self.packed(fpu.multiply(self._unpacked(a), self._unpacked(b), self.fidelity, self.wide))

    def add(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Elementwise sum."""
        return self.packed(fpu.add(self._unpacked(a), self._unpacked(b), self.wide))

    def subtract(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Elementwise difference, still in DEST."""
        return fpu.add(self._unpacked(a), -self._unpacked(b), self.wide)

    def sum_rows(self, values: torch.Tensor) -> torch.Tensor:
        """Sums over the last dimension, ``[..., 1]``, still in DEST."""
        return fpu.sum_rows(self._unpacked(values), self.fidelity, self.wide)

    def matmul(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """``a @ b`` in one run over K."""
        return self.packed(self._product(a, b))

    def matmul_in_blocks(self, a: torch.Tensor, b: torch.Tensor, block: int) -> torch.Tensor:
        """``a @ b`` where the packer adds up blocks of ``block`` k in L1; the last block runs on top of their sum."""
        partial: torch.Tensor | None = None
        pieces = list(zip(a.split(block, -1), b.split(block, -2), strict=True))
        for left, right in pieces[:-1]:
            here = self._product(left, right)
            partial = here if partial is None else self.in_l1(partial + here)
        return self._product(*pieces[-1], partial)

    def in_l1(self, values: torch.Tensor) -> torch.Tensor:
        """A sum that the packer formed in a buffer."""
        return values if self.wide and not self.bf16_buffers else sfpu.bf16(values)

    def packed(self, values: torch.Tensor) -> torch.Tensor:
        """What a buffer holds of values in DEST."""
        return half_away(values, 8) if self.wide and self.bf16_buffers else values

    def _product(self, a: torch.Tensor, b: torch.Tensor, dest: torch.Tensor | None = None) -> torch.Tensor:
        return matmul(self._unpacked(a), self._unpacked(b), self.fidelity, self.wide, dest)

    def _unpacked(self, values: torch.Tensor) -> torch.Tensor:
        return fpu.unpacked(values, self.wide)
