"""Right layers that round at other places than the op graph, or less. All must pass."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch

from harness.oracle import oracle_layer
from harness.weights import LayerWeights
from tests.wrong_layers.arithmetic import Compute
from tests.wrong_layers.faulty import Faulty


class GammaFolded(Faulty):
    """The gammas of both norms multiplied into the projections before these are rounded to bfp8."""

    def prepare(self, i: int, weights: LayerWeights) -> None:
        first, second = weights.norm1[:, None].float(), weights.norm2[:, None].float()
        ones = torch.ones_like(weights.norm1)
        folded = {"wqkv": first * weights.wqkv, "w1": second * weights.w1, "w3": second * weights.w3}
        super().prepare(i, dataclasses.replace(weights, norm1=ones, norm2=ones, **folded))


class HighFidelity(Compute):
    """HiFi4 in every matmul."""

    fidelity = "HiFi4"


class Exact(Faulty):
    """fp64 all through, on the weights as the checkpoint has them; only the results are rounded."""

    def prepare(self, i: int, weights: LayerWeights) -> None:
        super().prepare(i, weights)
        self.exact = {**getattr(self, "exact", {}), i: weights}

    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        c = self.real.context
        host = [self.host(t) for t in (x, k_cache, v_cache)]
        want = oracle_layer(host[0], self.exact[i], *host[1:], self.env.shape, c.S, c.rope_delta, torch.float64)
        for cache, own in ((k_cache, want.k), (v_cache, want.v)):
            self.own_rows(cache, lambda _, own=own: own[None].float())
        return self.device(want.out[None, None].bfloat16())


RIGHT = [GammaFolded, HighFidelity, Exact]
