"""Wrong attention: masks, heads, softmax."""

from __future__ import annotations

from typing import Any

import torch

from harness.positions import MASK_MIN
from tests.wrong_layers.faulty import Faulty, fault


@fault("the first hidden row seen", "update: first hidden row seen")
class SeesAHiddenRow(Faulty):
    def see(self, mask: torch.Tensor, S: int) -> torch.Tensor:
        mask[..., S] = 0
        return mask


@fault("the last valid row missed", "update: last valid row missed")
class MissesTheLastRow(Faulty):
    def see(self, mask: torch.Tensor, S: int) -> torch.Tensor:
        mask[..., S - 1] = MASK_MIN
        return mask


@fault("the first row missed", "update: first row missed")
class MissesTheFirstRow(Faulty):
    def see(self, mask: torch.Tensor, S: int) -> torch.Tensor:
        mask[..., 0] = MASK_MIN
        return mask


@fault("own rows unseen", "update: relative L2")
class OwnRowsUnseen(Faulty):
    def see(self, mask: torch.Tensor, S: int) -> torch.Tensor:
        mask[..., -self.env.shape.tokens :] = MASK_MIN
        return mask


@fault("the first own row missed", "update: first own row missed")
class FirstOwnRowMissed(Faulty):
    def see(self, mask: torch.Tensor, S: int) -> torch.Tensor:
        mask[..., -self.env.shape.tokens] = MASK_MIN
        return mask


@fault("causal among own tokens", "update: relative L2")
class Causal(Faulty):
    def see(self, mask: torch.Tensor, S: int) -> torch.Tensor:
        T = self.env.shape.tokens
        token = torch.arange(mask.shape[2]) % T
        later = token[:, None] < torch.arange(T)
        mask[0, 0, :, -T:] = torch.where(later, MASK_MIN, 0.0)
        return mask


@fault("all rows seen, garbage too", "update: relative L2")
class NoMask(Faulty):
    def see(self, mask: torch.Tensor, S: int) -> torch.Tensor:
        return mask * 0


@fault("mask in whole tiles", "update: relative L2")
class MaskInTiles(Faulty):
    def see(self, mask: torch.Tensor, S: int) -> torch.Tensor:
        mask[..., : -(-S // 32) * 32] = 0
        return mask


@fault("rows leak by a trillionth: the mask is -20", "second run")
class WeakMask(Faulty):
    def see(self, mask: torch.Tensor, S: int) -> torch.Tensor:
        return mask.clamp(min=-20 * self.env.shape.head_dim**0.5)


class Attention(Faulty):
    """The attention in torch on the host, to be spoiled."""

    def op(self, name: str, call: Any, *args: Any, **kwargs: Any) -> Any:
        if name != "scaled_dot_product_attention_decode":
            return call(*args, **kwargs)
        q, k, v = (self.host(t) for t in args)
        k, v, mask = k[:, 0], v[:, 0], self.host(kwargs["attn_mask"])[0]
        return self.device(self.attend(q[0], k, v, mask)[None])

    def attend(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """q [n_kv, group T, d], k and v [n_kv, Smax, d], mask [rows, Smax]."""
        return self.weigh(q @ k.transpose(-1, -2) * self.scale() + mask) @ v

    def weigh(self, scores: torch.Tensor) -> torch.Tensor:
        return torch.softmax(scores, -1)

    def scale(self) -> float:
        return self.env.shape.head_dim**-0.5


@fault("softmax scale 1 / d", "update: relative L2")
class WrongScale(Attention):
    def scale(self) -> float:
        return 1 / self.env.shape.head_dim


@fault("softmax scale 3 % large", "update: scale of attention")
class SlightlyWrongScale(Attention):
    def scale(self) -> float:
        return 1.03 * self.env.shape.head_dim**-0.5


@fault("softmax without its maximum", "new contents: finite")
class NoMaximum(Attention):
    def weigh(self, scores: torch.Tensor) -> torch.Tensor:
        p = scores.exp()
        return p / p.sum(-1, keepdim=True)


@fault("softmax sums only the cached rows", "update: relative L2")
class WrongSum(Attention):
    def weigh(self, scores: torch.Tensor) -> torch.Tensor:
        p = torch.exp(scores - scores.amax(-1, keepdim=True))
        return p / p[..., : -self.env.shape.tokens].sum(-1, keepdim=True)


@fault("attention 4 % large", "update: scale of attention")
class AttentionLarge(Attention):
    def weigh(self, scores: torch.Tensor) -> torch.Tensor:
        return 1.04 * torch.softmax(scores, -1)


@fault("probabilities in bfp4", "update: relative L2")
class RoughProbabilities(Attention):
    def weigh(self, scores: torch.Tensor) -> torch.Tensor:
        p = torch.softmax(scores, -1)
        return self.host(self.device(p[None], "bfp4"))[0]


class Heads(Faulty):
    """Moves heads after the attention."""

    def op(self, name: str, call: Any, *args: Any, **kwargs: Any) -> Any:
        if name == "nlp_concat_heads":
            args = (self.device(self.move(self.host(args[0]))),)
        return call(*args, **kwargs)

    def move(self, heads: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError


@fault("heads in reverse order", "update: scale of attention")
class HeadsReversed(Heads):
    def move(self, heads: torch.Tensor) -> torch.Tensor:
        return heads.flip(1)


@fault("one head a copy of its neighbour", "update: relative L2")
class OneHeadStale(Heads):
    def move(self, heads: torch.Tensor) -> torch.Tensor:
        heads[:, 1] = heads[:, 0]
        return heads


@fault("query heads in the wrong group", "update: relative L2")
class WrongGroup(Faulty):
    def op(self, name: str, call: Any, *args: Any, **kwargs: Any) -> Any:
        s = self.env.shape
        if name == "scaled_dot_product_attention_decode":
            q = self.host(args[0]).reshape(s.group, s.n_kv_heads, s.tokens, s.head_dim).transpose(0, 1)
            args = (self.device(q.reshape(1, s.n_kv_heads, -1, s.head_dim)), *args[1:])
        return call(*args, **kwargs)
