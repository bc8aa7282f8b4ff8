"""What the good programs compute, in torch."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F

from tests.emulator.good import ORDER, SHAPE, values


def _pair(seeds: tuple[int, int] = (1, 2)) -> tuple[torch.Tensor, torch.Tensor]:
    return values(seeds[0]).float(), values(seeds[1]).float()


def _positive() -> torch.Tensor:
    return (values(3).abs() + 0.5).float()


def _tiles_transposed(x: torch.Tensor) -> torch.Tensor:
    tiles = x.view(2, 32, 4, 32)
    return tiles.transpose(1, 3).reshape(SHAPE)


def _spread(x: torch.Tensor, how: str) -> torch.Tensor:
    """Each tile's first row, column or value, over the tile."""
    tiles = x.view(2, 32, 4, 32)
    part = {"rows": tiles[:, :1], "cols": tiles[..., :1], "scalar": tiles[:, :1, :, :1]}[how]
    return part.expand(2, 32, 4, 32).reshape(SHAPE)


def _norm() -> torch.Tensor:
    x = values(6).float()
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)


def _scatter() -> torch.Tensor:
    tiles = values(3).float().view(2, 32, 4, 32).transpose(1, 2).reshape(8, 32, 32)
    out = torch.empty_like(tiles)
    out[list(ORDER)] = tiles
    return out.view(2, 4, 32, 32).transpose(1, 2).reshape(SHAPE)


def _ring() -> torch.Tensor:
    return values(8, (1, 1, 32, 128)).float().roll(32, -1)


def _matmul() -> torch.Tensor:
    return values(4).float() @ values(5, (1, 1, 128, 64)).float()


REFERENCES: dict[str, Callable[[], torch.Tensor]] = {
    "arguments": lambda: torch.tensor(
        [[11, 42, 7, 22, 33, 44, 0, 0, 6, 3, 24], [11, 42, 7, 23, 34, 44, 1, 0, 6, 3, 24]]
    ),
    # Of the real ttnn 0.81.1 on the functional simulator.
    "endpoints": lambda: torch.tensor(
        [
            [(17, 14), (17, 15), (17, 18), (17, 21), (18, 14), (18, 17), (18, 20), (18, 23)],
            [(17, 13), (17, 16), (17, 19), (17, 22), (18, 13), (18, 16), (18, 19), (18, 22)],
        ]
    ),
    "copy": lambda: values(1).float(),
    "copy, one page": lambda: values(1).float(),
    "mul": lambda: torch.mul(*_pair()),
    "mul LoFi": lambda: torch.mul(*_pair()),
    "mul fp32 dest": lambda: torch.mul(*_pair()),
    "add bfp8": lambda: torch.add(*_pair()),
    "sub bcast cols": lambda: _pair()[0] - _spread(_pair()[1], "cols"),
    "mul bcast rows": lambda: _pair()[0] * _spread(_pair()[1], "rows"),
    "add bcast scalar": lambda: _pair()[0] + _spread(_pair()[1], "scalar"),
    "transpose": lambda: _tiles_transposed(_positive()),
    "sfpu exp": lambda: _positive().exp(),
    "sfpu recip": lambda: 1 / _positive(),
    "sfpu rsqrt": lambda: _positive().rsqrt(),
    "sfpu sqrt": lambda: _positive().sqrt(),
    "sfpu silu": lambda: F.silu(_positive()),
    "sfpu sigmoid": lambda: _positive().sigmoid(),
    "sfpu square": lambda: _positive().square(),
    "sfpu negative": lambda: -_positive(),
    "sfpu mul_unary": lambda: _positive() * 0.5,
    "sfpu exp fp32": lambda: _positive().exp(),
    "matmul": _matmul,
    "matmul bfp8 HiFi2": _matmul,
    "matmul bfp4, partial sums in L1": _matmul,
    "norm": _norm,
    "softmax": lambda: values(9).float().softmax(-1),
    "dest reuse": lambda: torch.maximum((_pair()[0] + _pair()[1]) * _pair()[0], _pair()[1]),
    "scatter": _scatter,
    "rounds": lambda: values(10, (1, 1, 32, 256)).float().roll(6 * 32, -1),
    "multicast": lambda: values(7).float().expand(1, 6, 64, 128),
    "multicast, both NoCs": lambda: values(7).float().expand(1, 6, 64, 128),
    "multicast, object interface": lambda: values(7).float().expand(1, 6, 64, 128),
    "ring": _ring,
}
# Relative L2 error above which a result is wrong. bf16 keeps 8 bits, LoFi products 5 x 7 bits, block floats 7 and 3.
# A product of four tiles in 16-bit DEST rounds its sum four times.
BOUNDS = {
    "mul LoFi": 0.05,
    "add bfp8": 0.02,
    "matmul": 0.01,
    "matmul bfp8 HiFi2": 0.02,
    "matmul bfp4, partial sums in L1": 0.2,
}
DEFAULT_BOUND = 0.006


def relative_error(got: torch.Tensor, want: torch.Tensor) -> float:
    """|got - want| / |want|, in the 2-norm."""
    return float((got.double() - want.double()).norm() / want.double().norm())
