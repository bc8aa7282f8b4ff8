"""The one place that decides whether a layer is right.

Limits, and why they stand where they do (tests/test_verdict.py plants the faults that must fail them). Against the
fp32 oracle at the real shape, S 4700, the op graph of the real ttnn 0.81.1 has output PCC 0.99990 and update PCC
0.99979 on the functional simulator, at 1.5 % and 2.8 % of relative L2. HiFi2 drops a mantissa bit of every activation
it multiplies, always towards zero, so the update also comes out about 1.5 % small.
PCC alone would pass a layer scaled by 1.02 or offset; relative L2 does not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from harness.metrics import max_abs, pcc, relative_l2


@dataclass(frozen=True)
class Limit:
    """Least PCC and greatest relative L2 of a tensor against the oracle's."""

    pcc: float
    relative_l2: float


OUTPUT = Limit(pcc=0.9998, relative_l2=0.02)
UPDATE = Limit(pcc=0.9995, relative_l2=0.035)
CACHE_ROWS = {"bf16": Limit(pcc=0.9999, relative_l2=0.015), "bfp8": Limit(pcc=0.9998, relative_l2=0.02)}


@dataclass(frozen=True)
class Part:
    """One part of a verdict: what was looked at, whether it is right, and the figures as text.

    `numbers` holds them for the JSON record.
    """

    name: str
    passed: bool
    text: str
    numbers: dict[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"name": self.name, "passed": self.passed, "text": self.text, **self.numbers}


def close(name: str, got: torch.Tensor, want: torch.Tensor, limit: Limit) -> Part:
    """PCC and relative L2 within `limit`; the greatest difference is shown and located."""
    got, want = got.double(), want.double()
    numbers = {"pcc": pcc(got, want), "relative_l2": relative_l2(got, want), "max_abs": max_abs(got, want)}
    passed = numbers["pcc"] >= limit.pcc and numbers["relative_l2"] <= limit.relative_l2
    where = int((got - want).abs().nan_to_num(torch.inf).argmax())
    at = ", ".join(str(int(n)) for n in torch.unravel_index(torch.tensor(where), got.shape))
    text = (
        f"PCC {numbers['pcc']:.6f} (>= {limit.pcc}), relative L2 {numbers['relative_l2']:.4f} "
        f"(<= {limit.relative_l2}), max abs {numbers['max_abs']:.4g} at [{at}]"
    )
    return Part(name, passed, text, numbers)


def finite(name: str, got: torch.Tensor) -> Part:
    """No NaN and no infinity."""
    bad = int((~got.isfinite()).sum())
    return Part(name, bad == 0, "all finite" if not bad else f"{bad} of {got.numel()} values are NaN or infinite")


def identical(name: str, got: torch.Tensor, want: torch.Tensor, what: str = "") -> Part:
    """Equal bit for bit; `what` says what a difference means."""
    # Values, not storage: a NaN equals itself here, for the same bits must pass.
    differs = ~((got == want) | (got.isnan() & want.isnan()))
    if not differs.any():
        return Part(name, True, "bit-identical")
    first = ", ".join(str(int(n)) for n in differs.nonzero()[0])
    return Part(name, False, f"{int(differs.sum())} values differ, the first at [{first}]{': ' if what else ''}{what}")
