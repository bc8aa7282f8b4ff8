"""Wrong formulas and careless arithmetic."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch

from harness.oracle import rms_norm
from harness.positions import rope_cos_sin
from harness.shape import PRESETS, LayerShape
from tests.wrong_layers.faulty import Faulty, fault

WIDE = LayerShape(tokens=32, hidden=256, n_heads=4, n_kv_heads=2, head_dim=64, inter=4096)


def interleaved(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotary embedding of neighbouring pairs."""
    half = x.shape[-1] // 2
    c, s = cos[..., :half].repeat_interleave(2, -1), sin[..., :half].repeat_interleave(2, -1)
    even, odd = x[..., 0::2], x[..., 1::2]
    return x * c + torch.stack((-odd, even), -1).flatten(-2) * s


class WrongEps(Faulty):
    eps = 0.0

    def op(self, name: str, call: Any, *args: Any, **kwargs: Any) -> Any:
        return super().op(name, call, *args, **({**kwargs, "epsilon": self.eps} if name == "rms_norm" else kwargs))


@fault("eps 1e-5 for 1e-6", "new contents: K rows: relative L2")
class LargeEps(WrongEps):
    eps = 1e-5


@fault("no eps", "new contents: K rows: relative L2")
class NoEps(WrongEps):
    eps = 0.0


class OneNorm(Faulty):
    """Does one of the four norms otherwise."""

    which = ""

    def op(self, name: str, call: Any, *args: Any, **kwargs: Any) -> Any:
        if name == "rms_norm" and self.weight(kwargs["weight"]) == self.which:
            return self.device(self.norm(self.host(args[0]), self.host(kwargs["weight"])))
        return call(*args, **kwargs)

    def norm(self, x: torch.Tensor, gamma: torch.Tensor) -> torch.Tensor:
        return x


@fault("q norm missing", "update: PCC")
class NoQueryNorm(OneNorm):
    which = "q_norm"


@fault("k norm missing", "K rows: relative L2")
class NoKeyNorm(OneNorm):
    which = "k_norm"


@fault("gamma of the first norm left out", "V rows: PCC")
class NoGamma(OneNorm):
    which = "norm1"

    def norm(self, x: torch.Tensor, gamma: torch.Tensor) -> torch.Tensor:
        return rms_norm(x, torch.ones(()), self.env.shape.rms_eps)


@fault("second norm a LayerNorm: the mean taken off", "update: relative L2")
class LayerNorm(OneNorm):
    which = "norm2"

    def norm(self, x: torch.Tensor, gamma: torch.Tensor) -> torch.Tensor:
        return rms_norm(x - x.mean(-1, keepdim=True), gamma[..., :1, :], self.env.shape.rms_eps)


class Tables(Faulty):
    """Rotary tables of its own."""

    theta, off = 5e6, 0

    def op(self, name: str, call: Any, *args: Any, **kwargs: Any) -> Any:
        if name == "rotary_embedding_hf":
            s, c = self.env.shape, self.env.context
            positions = torch.arange(s.tokens) + c.S + c.rope_delta + self.off
            args = (args[0], *(self.device(t[None, None]) for t in rope_cos_sin(positions, s.head_dim, self.theta)))
        return call(*args, **kwargs)


@fault("theta 1e6 for 5e6", "K rows: relative L2")
class WrongTheta(Tables):
    theta = 1e6


@fault("positions one too far", "K rows: relative L2")
class PositionsOff(Tables):
    off = 1


@fault("interleaved RoPE", "K rows: relative L2")
class Interleaved(Faulty):
    def op(self, name: str, call: Any, *args: Any, **kwargs: Any) -> Any:
        if name == "rotary_embedding_hf":
            return self.device(interleaved(*map(self.host, args)))
        return call(*args, **kwargs)


@fault("gammas of q and k after RoPE", "K rows: relative L2")
class NormAfterRope(Faulty):
    def op(self, name: str, call: Any, *args: Any, **kwargs: Any) -> Any:
        if name == "rms_norm" and self.weight(kwargs["weight"]) in ("q_norm", "k_norm"):
            self.gammas = [*getattr(self, "gammas", []), self.host(kwargs["weight"])]
            return self.device(rms_norm(self.host(args[0]), torch.ones(()), self.env.shape.rms_eps))
        result = call(*args, **kwargs)
        if name == "rotary_embedding_hf":
            gamma = self.gammas.pop(0)
            self.put(result, lambda values: values * gamma[..., :1, :])
        return result


@fault("first residual left out of the MLP's input", "update: scale of mlp")
class NoResidualBeforeMlp(Faulty):
    def op(self, name: str, call: Any, *args: Any, **kwargs: Any) -> Any:
        if name == "rms_norm" and self.weight(kwargs["weight"]) == "norm2":
            args = (self.attended,)
        if name == "linear" and self.weight(args[1]) == "wo":
            result = call(*args, **kwargs)
            self.attended = self.device(self.host(result))
            return result
        return call(*args, **kwargs)


class WrongSilu(Faulty):
    """Its own activation after w1."""

    def op(self, name: str, call: Any, *args: Any, **kwargs: Any) -> Any:
        result = call(*args, **kwargs)
        if name == "linear" and self.weight(args[1]) == "w1":
            gate = self.host(args[0])[0, 0] @ self.host(self.weights[self.i]["w1"])
            self.put(result, lambda _: self.act(gate)[None, None].bfloat16().float())
        return result

    def act(self, x: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError


@fault("relu for silu", "update: relative L2")
class Relu(WrongSilu):
    def act(self, x: torch.Tensor) -> torch.Tensor:
        return x.relu()


@fault("silu by straight lines (hard swish)", "update: relative L2")
class HardSwish(WrongSilu):
    def act(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.hardswish(x)


@fault("silu with a sigmoid in steps of 1/8", "update: relative L2")
class RoughSigmoid(WrongSilu):
    def act(self, x: torch.Tensor) -> torch.Tensor:
        return x * (torch.sigmoid(x) * 8).round() / 8


@fault("gate and up exchanged", "update: relative L2")
class GateAndUp(Faulty):
    def prepare(self, i: int, weights: Any) -> None:
        super().prepare(i, dataclasses.replace(weights, w1=weights.w3, w3=weights.w1))


class Compute(Faulty):
    """Matmuls under another compute config."""

    config: dict[str, Any] = {}
    fidelity = "HiFi2"
    only: tuple[str, ...] = ()

    def op(self, name: str, call: Any, *args: Any, **kwargs: Any) -> Any:
        if name == "linear" and (not self.only or self.weight(args[1]) in self.only):
            ttnn = self.real.ttnn
            wide = {"fp32_dest_acc_en": True, "packer_l1_acc": True, "math_approx_mode": False, **self.config}
            fidelity = getattr(ttnn.MathFidelity, self.fidelity)
            kwargs["compute_kernel_config"] = ttnn.WormholeComputeKernelConfig(math_fidelity=fidelity, **wide)
        return call(*args, **kwargs)


@fault("LoFi for HiFi2", "update: scale of mlp")
class LoFi(Compute):
    fidelity = "LoFi"


@fault("LoFi in w2 alone", "update: scale of mlp", shape=dataclasses.replace(PRESETS["small"], tokens=128), Smax=256)
class LoFiDown(Compute):
    fidelity, only = "LoFi", ("w2",)


@fault("sums over inter in bf16", "update: PCC", weights="bf16", inputs="uniform", shape=WIDE)
class NarrowSums(Compute):
    config, only = {"fp32_dest_acc_en": False, "packer_l1_acc": False}, ("w2",)


@fault("projections in bfp4", "V rows: relative L2")
class Bfp4(Faulty):
    def prepare(self, i: int, weights: Any) -> None:
        super().prepare(i, weights)
        for name in ("wqkv", "wo", "w1", "w3", "w2"):
            self.weights[i][name] = self.device(getattr(weights, name), "bfp4")
