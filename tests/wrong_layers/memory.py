"""What stays from one call to the next, and what a layer must leave alone."""

from __future__ import annotations

from typing import Any

import torch

from tests.wrong_layers.faulty import Faulty, fault


@fault("weights of the first layer for every layer", "next layer: V rows: relative L2")
class IgnoresLayer(Faulty):
    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        return super().layer_fn(next(iter(self.weights)), x, k_cache, v_cache)


@fault("weights of the layer prepared last", "V rows: relative L2")
class LastPrepared(Faulty):
    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        return super().layer_fn(list(self.weights)[-1], x, k_cache, v_cache)


@fault("S frozen at the first call", "new contents: update: relative L2")
class FrozenS(Faulty):
    def see(self, mask: torch.Tensor, S: int) -> torch.Tensor:
        self.frozen = getattr(self, "frozen", mask)
        return self.frozen


@fault("positions frozen at the first call", "next layer: K rows: relative L2")
class FrozenPositions(Faulty):
    def op(self, name: str, call: Any, *args: Any, **kwargs: Any) -> Any:
        if name == "rotary_embedding_hf":
            self.tables = getattr(self, "tables", None) or [self.host(t) for t in args[1:]]
            args = (args[0], *map(self.device, self.tables))
        return call(*args, **kwargs)


class Cached(Faulty):
    """Keeps outputs and own rows by a key."""

    def __init__(self, env: Any, options: Any) -> None:
        super().__init__(env, options)
        self.answers: dict[Any, list[torch.Tensor]] = {}

    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        key, T = self.key(i, x, k_cache, v_cache), self.env.shape.tokens
        if key not in self.answers:
            out = super().layer_fn(i, x, k_cache, v_cache)
            self.answers[key] = [self.host(out), *(self.host(c)[:, :, -T:] for c in (k_cache, v_cache))]
            return out
        out, *rows = self.answers[key]
        for cache, own in zip((k_cache, v_cache), rows, strict=True):
            self.own_rows(cache, lambda _, own=own: own)
        return self.device(out)

    def key(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        raise NotImplementedError

    def contents(self, *tensors: Any) -> tuple[bytes, ...]:
        return tuple(self.host(t).numpy().tobytes() for t in tensors)


@fault("answer kept by the identity of x", "next layer: V rows: relative L2")
class CachedByX(Cached):
    def key(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        return id(x)


@fault("answer kept by all addresses, the layer and S", "new contents: output: relative L2")
class CachedByAddress(Cached):
    def key(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        return (*(t.buffer_address() for t in (x, k_cache, v_cache)), i, self.env.context.S)


@fault("answer kept by the contents of x", "next layer: V rows: relative L2")
class CachedByContents(Cached):
    def key(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        return self.contents(x)


@fault("answer kept by the contents of x and of both caches", "next layer: V rows: relative L2")
class CachedByAllContents(Cached):
    def key(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        T = self.env.shape.tokens
        rows = tuple(self.host(c)[:, :, :-T].numpy().tobytes() for c in (k_cache, v_cache))
        return (*self.contents(x), *rows)


@fault("answer kept by the layer", "new contents: output: relative L2")
class CachedByLayer(Cached):
    def key(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        return i


@fault("tensors of the first call used for ever", "next layer: K rows: relative L2")
class FirstTensors(Faulty):
    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        self.kept = getattr(self, "kept", (x, k_cache, v_cache))
        return super().layer_fn(i, *self.kept)


@fault("tensors of a layer's first call used for that layer", "second run")
class FirstTensorsOfLayer(Faulty):
    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        self.kept = getattr(self, "kept", {})
        x, k_cache, v_cache = self.kept.setdefault(i, (x, k_cache, v_cache))
        return super().layer_fn(i, x, k_cache, v_cache)


class Sometimes(Faulty):
    """Wrong in some calls."""

    def wrong(self) -> bool:
        raise NotImplementedError

    def change(self, out: torch.Tensor) -> torch.Tensor:
        return out * 1.1 if self.wrong() else out


@fault("right and wrong by turns", "next layer: output: scale")
class Alternates(Sometimes):
    def wrong(self) -> bool:
        return self.call % 2 == 0


@fault("right in the first call only", "next layer: output: scale")
class FirstOnly(Sometimes):
    def wrong(self) -> bool:
        return self.call > 1


@fault("wrong from the fourth call on", "second run")
class WrongLate(Sometimes):
    def wrong(self) -> bool:
        return self.call > 3


@fault("an ulp of noise in every call", "second run")
class Noise(Faulty):
    def change(self, out: torch.Tensor) -> torch.Tensor:
        return out * (1 + 2**-7 * (torch.rand(out.shape) < 0.01))


@fault("a little of the last call's output added", "second run")
class CarriesOver(Faulty):
    def change(self, out: torch.Tensor) -> torch.Tensor:
        last, self.last = getattr(self, "last", 0 * out), out
        return out + 1e-2 * last


@fault("rows also written into the next layer's cache", "second run")
class WritesNextLayer(Faulty):
    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        self.caches = {**getattr(self, "caches", {}), i: k_cache}
        out = super().layer_fn(i, x, k_cache, v_cache)
        if i + 1 in self.caches:
            rows = self.host(k_cache)[:, :, -self.env.shape.tokens :]
            self.own_rows(self.caches[i + 1], lambda _: rows)
        return out


@fault("rows also written into the layer before's cache", "next layer: other layer's caches")
class WritesLayerBefore(Faulty):
    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        self.caches = {**getattr(self, "caches", {}), i: k_cache}
        out = super().layer_fn(i, x, k_cache, v_cache)
        if i - 1 in self.caches:
            self.own_rows(self.caches[i - 1], lambda rows: rows * 1.5)
        return out


class Mutates(Faulty):
    """Writes into what it was lent."""

    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        out = super().layer_fn(i, x, k_cache, v_cache)
        self.put(self.lent(x), self.bump)
        return out

    def lent(self, x: Any) -> Any:
        raise NotImplementedError

    def bump(self, values: torch.Tensor) -> torch.Tensor:
        values[..., 0, 7] += 1
        return values


@fault("x written to", "x unchanged")
class MutatesX(Mutates):
    def lent(self, x: Any) -> Any:
        return x


@fault("a weight written to", "weights unchanged")
class MutatesWeight(Mutates):
    def lent(self, x: Any) -> Any:
        return self.weights[self.i]["norm2"]


@fault("the mask written to", "context unchanged")
class MutatesMask(Mutates):
    def lent(self, x: Any) -> Any:
        return self.real.context.mask(self.query_rows, self.options.mask)

    def bump(self, values: torch.Tensor) -> torch.Tensor:
        values[..., 0, self.real.context.S] = 0
        return values


@fault("the table of cosines written to", "context unchanged")
class MutatesCos(Mutates):
    def lent(self, x: Any) -> Any:
        return self.real.context.cos


@fault("garbage rows read for a check word that goes into the output", "second run")
class ReadsGarbage(Faulty):
    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        self.word = self.host(v_cache)[0, 0, self.env.context.S, 0] * 1e-3
        return super().layer_fn(i, x, k_cache, v_cache)

    def change(self, out: torch.Tensor) -> torch.Tensor:
        out[..., 0, 0] += self.word
        return out
