"""The whole expert in torch: what every implementation is judged against. Layers come and go one at a time."""

from __future__ import annotations

from collections.abc import Callable

import torch

from harness.expert.kv import KvRows
from harness.expert.progress import Layers, no_layers
from harness.expert.projections import ActionInProj, ActionOutProj
from harness.expert.sampling import STEPS, Point, euler
from harness.expert.weights import ExpertWeights
from harness.oracle import Arithmetic, oracle_layer


class Reference:
    """An expert of fp32 layers (`harness/oracle.py`), or fp64, over the caches' rows as the text model left them.

    arithmetic   what the layers and the final norm round; nothing unless told
    """

    def __init__(
        self,
        weights: ExpertWeights,
        kv: KvRows,
        exact: bool = False,
        dtype: torch.dtype = torch.float32,
        arithmetic: Arithmetic | None = None,
    ) -> None:
        self.weights, self.kv, self.dtype = weights, kv, dtype
        self.arithmetic = arithmetic or Arithmetic()
        self.in_proj = ActionInProj(weights.tensor, exact)
        self.out_proj = ActionOutProj(weights.tensor)

    def step(self, action: torch.Tensor, t: float, layers: Layers = no_layers) -> torch.Tensor:
        """action [T, 2] at t -> velocity, fp32 [T, 2]."""
        return self.out_proj(self.hidden(action, t, layers))

    def hidden(self, action: torch.Tensor, t: float, layers: Layers = no_layers) -> torch.Tensor:
        """action [T, 2] at t -> the hidden state after the final norm, [T, hidden]."""
        shape, n, a = self.weights.shape, self.weights.n_layers, self.arithmetic
        x = a.kept(self.in_proj(action, t).to(self.dtype))
        for i in range(n):
            k, v = self.kv.rows(i)
            layer = self.weights.layer(i)
            x = oracle_layer(x, layer, k[None], v[None], shape, self.kv.S, self.kv.rope_delta, self.dtype, a).out
            layers(i + 1, n)
        gamma = self.weights.tensor("norm.weight").to(self.dtype)
        return a.norm(x, gamma, shape.rms_eps)

    def sample(
        self, x0: torch.Tensor, n_steps: int = STEPS, record: Callable[[Point], None] = lambda point: None
    ) -> torch.Tensor:
        """The action [T, 2] that `x0` flows to."""
        return euler(self.step, x0, n_steps, record)
