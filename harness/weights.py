"""The weights of one layer as torch tensors, in the layouts the device multiplies with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from harness.errors import UsageError
from harness.shape import LayerShape


def linear_weight(w: torch.Tensor) -> torch.Tensor:
    """torch Linear weight [out, in] -> [in, out], as `x @ W` wants it."""
    return w.t().contiguous()


def fused_qkv(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Linear weights of q, k, v -> one [hidden, qkv_dim]: query heads, then key heads, then value heads."""
    return linear_weight(torch.cat((q, k, v)))


@dataclass(frozen=True)
class LayerWeights:
    """Weights of one layer, bf16 as a checkpoint has them.

    norm1, norm2 [hidden]; q_norm, k_norm [head_dim]; wqkv [hidden, qkv_dim]; wo [q_dim, hidden];
    w1 (gate), w3 (up) [hidden, inter]; w2 (down) [inter, hidden].
    """

    norm1: torch.Tensor
    wqkv: torch.Tensor
    q_norm: torch.Tensor
    k_norm: torch.Tensor
    wo: torch.Tensor
    norm2: torch.Tensor
    w1: torch.Tensor
    w3: torch.Tensor
    w2: torch.Tensor

    @staticmethod
    def shapes(shape: LayerShape) -> dict[str, tuple[int, ...]]:
        """Field name -> its shape at `shape`."""
        s = shape
        return {
            "norm1": (s.hidden,),
            "wqkv": (s.hidden, s.qkv_dim),
            "q_norm": (s.head_dim,),
            "k_norm": (s.head_dim,),
            "wo": (s.q_dim, s.hidden),
            "norm2": (s.hidden,),
            "w1": (s.hidden, s.inter),
            "w3": (s.hidden, s.inter),
            "w2": (s.inter, s.hidden),
        }

    @classmethod
    def random(cls, shape: LayerShape, seed: int, layer: int = 0, stream: float = 1.0) -> LayerWeights:
        """Random weights of layer `layer`: none is zero, none is one, and every layer has its own.

        Projections have std 1/sqrt(K). `wo` has 1.5 times that: attention averages its values, so this keeps
        its share of the update near the MLP's and a wrong attention visible in the output. `stream` scales what
        comes after a norm and stays in the residual stream: `wqkv` (whose q and k are normed again) and `w2`.
        """
        gen = torch.Generator().manual_seed(seed * 1_000_003 + layer)
        weights = {}
        for name, dims in cls.shapes(shape).items():
            if len(dims) == 1:
                w = 1.0 + 0.25 * torch.randn(dims, generator=gen)
            else:
                factor = {"wo": 1.5, "wqkv": stream, "w2": stream}.get(name, 1.0)
                w = torch.randn(dims, generator=gen) * (dims[0] ** -0.5 * factor)
            weights[name] = w.bfloat16()
        return cls(**weights)

    @staticmethod
    def hf_shapes(shape: LayerShape) -> dict[str, tuple[int, ...]]:
        """A layer's tensors as transformers names them (`self_attn.q_proj.weight`, ...) -> their shapes, [out, in]."""
        s = shape
        return {
            "input_layernorm.weight": (s.hidden,),
            "self_attn.q_proj.weight": (s.q_dim, s.hidden),
            "self_attn.k_proj.weight": (s.kv_dim, s.hidden),
            "self_attn.v_proj.weight": (s.kv_dim, s.hidden),
            "self_attn.q_norm.weight": (s.head_dim,),
            "self_attn.k_norm.weight": (s.head_dim,),
            "self_attn.o_proj.weight": (s.hidden, s.q_dim),
            "post_attention_layernorm.weight": (s.hidden,),
            "mlp.gate_proj.weight": (s.inter, s.hidden),
            "mlp.up_proj.weight": (s.inter, s.hidden),
            "mlp.down_proj.weight": (s.hidden, s.inter),
        }

    @classmethod
    def from_hf(cls, state: Mapping[str, torch.Tensor], shape: LayerShape) -> LayerWeights:
        """From a layer's tensors under their transformers names, as `hf_shapes` has them.

        Raises `UsageError` naming a tensor that is missing or has the wrong shape.
        """
        for name, dims in cls.hf_shapes(shape).items():
            if name not in state:
                raise UsageError(f"layer has no tensor {name}")
            if tuple(state[name].shape) != dims:
                raise UsageError(f"{name} has shape {list(state[name].shape)}; the layer needs {list(dims)}")
        return cls(
            norm1=state["input_layernorm.weight"],
            wqkv=fused_qkv(*(state[f"self_attn.{which}_proj.weight"] for which in "qkv")),
            q_norm=state["self_attn.q_norm.weight"],
            k_norm=state["self_attn.k_norm.weight"],
            wo=linear_weight(state["self_attn.o_proj.weight"]),
            norm2=state["post_attention_layernorm.weight"],
            w1=linear_weight(state["mlp.gate_proj.weight"]),
            w3=linear_weight(state["mlp.up_proj.weight"]),
            w2=linear_weight(state["mlp.down_proj.weight"]),
        )

    def to_hf(self, shape: LayerShape) -> dict[str, torch.Tensor]:
        """The inverse of `from_hf`."""
        q, k, v = self.wqkv.split((shape.q_dim, shape.kv_dim, shape.kv_dim), dim=1)
        return {
            "input_layernorm.weight": self.norm1,
            "self_attn.q_proj.weight": linear_weight(q),
            "self_attn.k_proj.weight": linear_weight(k),
            "self_attn.v_proj.weight": linear_weight(v),
            "self_attn.q_norm.weight": self.q_norm,
            "self_attn.k_norm.weight": self.k_norm,
            "self_attn.o_proj.weight": linear_weight(self.wo),
            "post_attention_layernorm.weight": self.norm2,
            "mlp.gate_proj.weight": linear_weight(self.w1),
            "mlp.up_proj.weight": linear_weight(self.w3),
            "mlp.down_proj.weight": linear_weight(self.w2),
        }
