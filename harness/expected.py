"""What is right for a layer's inputs, and how far from it the op graph comes: the same for all implementations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import torch

from harness.case import Inputs
from harness.edge_rows import edge_rows
from harness.oracle import OracleResult


@dataclass(frozen=True)
class Expected:
    """For caches k and v [1, n_kv, Smax, d] as the device was given them.

    want     the oracle's, fp64
    bar      the op graph's, by its model, fp32; what attention is in is [draws, ...]
    x        what came in [T, hidden], fp64
    shares   what the update is a sum of, by name
    """

    k: torch.Tensor
    v: torch.Tensor
    want: OracleResult
    bar: OracleResult
    x: torch.Tensor
    shares: Mapping[str, torch.Tensor]


_KNOWN: WeakKeyDictionary[Inputs, Expected] = WeakKeyDictionary()


def expected(inputs: Inputs, k: torch.Tensor, v: torch.Tensor) -> Expected:
    """Computed once for the same bits, and kept as long as the inputs are."""
    known = _KNOWN.get(inputs)
    if known is None or not (torch.equal(known.k, k) and torch.equal(known.v, v)):
        want = inputs.oracle(k, v)
        bar = inputs.bar(k, v, want.q)
        x = inputs.x.double().reshape(want.out.shape)
        shares = {"attention": want.attention, "mlp": want.mlp, "residual": x, **edge_rows(inputs, k, v, want)}
        _KNOWN[inputs] = known = Expected(k, v, want, bar, x, shares)
    return known
