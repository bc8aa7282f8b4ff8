"""What a layer would give that misses one cache row, or sees one too many: where masks end is where they go wrong.

One row of thousands changes little, far less than rounding does, but it changes it in a known direction. The verdict
fits the error by these directions: a coefficient of 1 says that this row was missed (or seen).
"""

from __future__ import annotations

import torch

from harness.case import Inputs
from harness.oracle import OracleResult

ALONE = 1e-6  # where a row has all the weight but this, what the others would give is not followed


def edge_rows(inputs: Inputs, k: torch.Tensor, v: torch.Tensor, want: OracleResult) -> dict[str, torch.Tensor]:
    """Fault -> what it adds to the attention's share [T, hidden], to first order. k, v [1, n_kv, Smax, d]."""
    case, s = inputs.case, inputs.case.shape
    S, scale = case.S, s.head_dim**-0.5
    keys, values = (torch.cat((c[0].double(), own), dim=1) for c, own in ((k, want.k), (v, want.v)))
    own = keys.shape[1] - s.tokens
    seen = torch.cat((torch.arange(S), torch.arange(own, own + s.tokens)))
    total = torch.logsumexp(want.q @ keys[:, seen].transpose(-1, -2) * scale, dim=-1, keepdim=True)
    rows = {"first row missed": 0, "last valid row missed": S - 1, "first own row missed": own}
    rows |= {"last own row missed": own + s.tokens - 1, "first hidden row seen": S}
    if S == 1:
        del rows["last valid row missed"]
    if case.Smax - s.tokens == S:
        del rows["first hidden row seen"]
    wo = inputs.weights.wo.double()
    result = {}
    for fault, row in rows.items():
        weight = torch.exp(want.q @ keys[:, row, :, None] * scale - total)
        away = want.heads - values[:, None, row]
        if fault.endswith("missed"):
            change = torch.where(weight < 1 - ALONE, weight / (1 - weight), 0.0) * away
        else:
            change = -torch.where(weight.isinf(), 1.0, weight / (1 + weight)) * away
        change = change.reshape(s.n_heads, s.tokens, s.head_dim)
        result[fault] = change.transpose(0, 1).reshape(s.tokens, s.q_dim) @ wo
    return result
