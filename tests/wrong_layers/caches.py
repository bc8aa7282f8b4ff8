"""Wrong writes to the caches."""

from __future__ import annotations

from typing import Any

import torch

from tests.wrong_layers.faulty import Faulty, fault


class Filled(Faulty):
    """Does the fills otherwise: `fill(cache, rows, is_v)`."""

    def op(self, name: str, call: Any, *args: Any, **kwargs: Any) -> Any:
        if name != "fill_cache":
            return call(*args, **kwargs)
        self.fills = getattr(self, "fills", 0) + 1
        return self.fill(call, args, kwargs, self.fills % 2 == 0)

    def fill(self, call: Any, args: Any, kwargs: Any, is_v: bool) -> Any:
        raise NotImplementedError


@fault("V not written", "V rows: relative L2")
class LosesV(Filled):
    def fill(self, call: Any, args: Any, kwargs: Any, is_v: bool) -> Any:
        return args[0] if is_v else call(*args, **kwargs)


@fault("K written into V and V into K", "K rows: PCC")
class Exchanged(Faulty):
    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        out = super().layer_fn(i, x, k_cache, v_cache)
        k, v = (self.host(c)[:, :, -self.env.shape.tokens :] for c in (k_cache, v_cache))
        self.own_rows(k_cache, lambda _: v)
        self.own_rows(v_cache, lambda _: k)
        return out


class After(Faulty):
    """Spoils the caches after the layer."""

    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        out = super().layer_fn(i, x, k_cache, v_cache)
        self.spoil(k_cache, v_cache)
        return out

    def spoil(self, k: Any, v: Any) -> None:
        raise NotImplementedError


@fault("K rows off by one", "K rows: PCC")
class ShiftsK(After):
    def spoil(self, k: Any, v: Any) -> None:
        self.own_rows(k, lambda rows: rows.roll(1, dims=2))


@fault("one K head not written", "K rows: worst head")
class LosesAHead(After):
    def spoil(self, k: Any, v: Any) -> None:
        def stale(rows: torch.Tensor) -> torch.Tensor:
            rows[:, 1] = rows[:, 0]
            return rows

        self.own_rows(k, stale)


@fault("last V row not written", "V rows: worst token")
class LosesARow(After):
    def spoil(self, k: Any, v: Any) -> None:
        def stale(rows: torch.Tensor) -> torch.Tensor:
            rows[:, :, -1] = 7.0
            return rows

        self.own_rows(v, stale)


@fault("K rows 2 % large", "K rows: scale")
class KLarge(After):
    def spoil(self, k: Any, v: Any) -> None:
        self.own_rows(k, lambda rows: rows * 1.02)


@fault("V rows in bfp4", "V rows: relative L2")
class RoughV(After):
    def spoil(self, k: Any, v: Any) -> None:
        self.own_rows(v, lambda rows: self.host(self.device(rows, "bfp4")))


class Outside(After):
    """Writes where it must not."""

    row = 0

    def spoil(self, k: Any, v: Any) -> None:
        def write(values: torch.Tensor) -> torch.Tensor:
            values[:, -1, self.row] = 0.5
            return values

        self.put(k, write)


@fault("one row written before the own ones", "other K rows")
class OneRowTooMany(Outside):
    @property
    def row(self) -> int:  # type: ignore[override]
        return self.env.context.Smax - self.env.shape.tokens - 1


@fault("a valid row rewritten", "other K rows")
class RewritesAValidRow(Outside):
    row = 0


@fault("rows written at S, not at the end", "K rows: relative L2")
class WritesAtS(Filled):
    def fill(self, call: Any, args: Any, kwargs: Any, is_v: bool) -> Any:
        return call(*args, **{**kwargs, "update_idx": self.env.context.S // 32 * 32})


@fault("K written before RoPE", "K rows: PCC")
class UnropedK(Filled):
    def op(self, name: str, call: Any, *args: Any, **kwargs: Any) -> Any:
        if name == "rms_norm" and self.weight(kwargs["weight"]) == "k_norm":
            result = call(*args, **kwargs)
            self.unroped = self.host(result)
            return result
        return super().op(name, call, *args, **kwargs)

    def fill(self, call: Any, args: Any, kwargs: Any, is_v: bool) -> Any:
        return call(*args, **kwargs) if is_v else call(args[0], self.device(self.unroped), *args[2:], **kwargs)
