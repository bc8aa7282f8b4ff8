"""Outputs that are not the layer's."""

from __future__ import annotations

from typing import Any

import torch

from tests.wrong_layers.faulty import Faulty, fault


@fault("zeros", "output: relative L2")
class Zeros(Faulty):
    def change(self, out: torch.Tensor) -> torch.Tensor:
        return out * 0


class WithX(Faulty):
    """Knows the x of the call."""

    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        self.x = self.host(x)
        return super().layer_fn(i, x, k_cache, v_cache)


@fault("the residual alone", "update: relative L2")
class ResidualOnly(WithX):
    def change(self, out: torch.Tensor) -> torch.Tensor:
        return self.x


@fault("x itself, no new tensor", "shape and dtype")
class ReturnsX(Faulty):
    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        super().layer_fn(i, x, k_cache, v_cache)
        return x


@fault("output in bfp8", "shape and dtype")
class WrongDtype(Faulty):
    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        return self.device(self.host(super().layer_fn(i, x, k_cache, v_cache)), "bfp8")


@fault("output scaled by 1.02", "update: scale of residual")
class Scaled(Faulty):
    def change(self, out: torch.Tensor) -> torch.Tensor:
        return out * 1.02


@fault("update scaled by 1.02", "update: scale of mlp")
class UpdateScaled(WithX):
    def change(self, out: torch.Tensor) -> torch.Tensor:
        return self.x + 1.02 * (out - self.x)


@fault("update scaled by 0.98", "update: scale of mlp")
class UpdateShrunk(WithX):
    def change(self, out: torch.Tensor) -> torch.Tensor:
        return self.x + 0.98 * (out - self.x)


@fault("a constant of 0.02 added", "output: offset")
class Offset(Faulty):
    def change(self, out: torch.Tensor) -> torch.Tensor:
        return out + 0.02


@fault("tokens in reverse order", "output: PCC")
class TokensReversed(Faulty):
    def change(self, out: torch.Tensor) -> torch.Tensor:
        return out.flip(2)


@fault("one tile of zeros", "output: worst tile")
class OneTileZero(Faulty):
    def change(self, out: torch.Tensor) -> torch.Tensor:
        out[..., :32, 64:96] = 0
        return out


@fault("one tile without the MLP's part", "output: worst tile")
class OneTileEarly(Faulty):
    def op(self, name: str, call: Any, *args: Any, **kwargs: Any) -> Any:
        result = call(*args, **kwargs)
        if name == "linear" and self.weight(args[1]) == "w2":

            def drop(values: torch.Tensor) -> torch.Tensor:
                values[..., :32, 64:96] = 0
                return values

            self.put(result, drop)
        return result


@fault("one token a copy of its neighbour", "output: worst token")
class OneTokenStale(Faulty):
    def change(self, out: torch.Tensor) -> torch.Tensor:
        out[:, :, 5] = out[:, :, 4]
        return out


@fault("one token's update 30 % large", "output: worst token")
class OneTokenLarge(WithX):
    def change(self, out: torch.Tensor) -> torch.Tensor:
        out[:, :, 5] = self.x[:, :, 5] + 1.3 * (out - self.x)[:, :, 5]
        return out


@fault("one channel's update 20 % large", "output: worst channel")
class OneChannelLarge(WithX):
    def change(self, out: torch.Tensor) -> torch.Tensor:
        out[..., 7] = self.x[..., 7] + 1.2 * (out - self.x)[..., 7]
        return out


@fault("one value off by half", "next layer: output: max abs")
class OneValue(Faulty):
    def change(self, out: torch.Tensor) -> torch.Tensor:
        out[0, 0, 3, 3] += 0.5
        return out


@fault("one small value off, beside outlier channels", "output: ulp", inputs="outliers")
class OneSmallValue(Faulty):
    def change(self, out: torch.Tensor) -> torch.Tensor:
        where = out[0, 0, 3].abs().argmin()
        out[0, 0, 3, where] += 1.5
        return out


@fault("NaN in the last value", "finite")
class NanInTail(Faulty):
    def change(self, out: torch.Tensor) -> torch.Tensor:
        out[..., -1, -1] = float("nan")
        return out


@fault("output never written", "finite")
class NeverWritten(Faulty):
    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        ttnn = self.real.ttnn
        where = ttnn.TILE_LAYOUT, self.real.device, ttnn.DRAM_MEMORY_CONFIG
        out = ttnn.allocate_tensor_on_device(ttnn.Shape(list(x.shape)), ttnn.bfloat16, *where)
        super().layer_fn(i, x, k_cache, v_cache)
        return out


@fault("an error after the work", "runs")
class RaisesLate(Faulty):
    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        super().layer_fn(i, x, k_cache, v_cache)
        raise RuntimeError("kernel lost")
