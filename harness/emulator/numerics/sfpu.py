"""The vector unit's functions, fp32 in and out.

It computes in fp32 and stores to 16-bit DEST by cutting (``store``); most functions round to bf16 first (``rounded``).
``wide`` says that DEST has 32 bits: then the functions are the accurate ones.
"""

from __future__ import annotations

import torch

from harness.emulator.formats import half_away
from harness.emulator.numerics.fpu import cut

LOG2_E = 1.4426950216293335
_MANTISSA = 0x7FFFFF
# The first guess of 1/x: seven mantissa bits, from the middle of each 1/128th of [1, 2).
_GUESSES = (128 * (2 / (1 + (torch.arange(128) + 0.5) / 128) - 1)).round().int()


def store(values: torch.Tensor, wide: bool) -> torch.Tensor:
    """What DEST holds after the vector unit stored ``values``."""
    return values if wide else cut(values, 8)


def rounded(values: torch.Tensor) -> torch.Tensor:
    """Rounded to bf16, half away from zero; still fp32."""
    return half_away(values, 8)


def bf16(values: torch.Tensor) -> torch.Tensor:
    """Rounded to bf16, half to even; still fp32."""
    return values.to(torch.bfloat16).float()


def _with_nan(values: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    """``result``, NaN where ``values`` are: what unwritten memory gives must show to the end."""
    return torch.where(values.isnan(), values, result)


def exp(values: torch.Tensor, wide: bool, c0: float = 1.0017248) -> torch.Tensor:
    """e^x. For 16-bit DEST 2^x by a parabola over the fraction of x, good to a bf16, rounded to bf16."""
    return torch.exp(values) if wide else rounded(_exp_parabola(values, c0))


def exp_tile(values: torch.Tensor, wide: bool) -> torch.Tensor:
    """e^x of whole tiles: the same parabola, its constant term held in half precision."""
    return exp(values, wide, 1.001953125)


def _exp_parabola(values: torch.Tensor, c0: float) -> torch.Tensor:
    fixed = (values * LOG2_E).add_(127).clamp_(0, 255).mul_(1 << 23).to(torch.int32)  # 8 integer, 23 fraction bits
    fraction = (fixed & _MANTISSA).float()
    curve = fraction.mul(4.791750143340323e-15).add_(7.839635491371155e-08).mul_(fraction).add_(c0)
    bits = (curve.view(torch.int32) & _MANTISSA) | (fixed & ~_MANTISSA)
    finite = torch.where(fixed < 1 << 23, 0.0, bits.view(torch.float32))
    return _with_nan(values, torch.where(fixed >= 255 << 23, torch.inf, finite))


def exp_line(values: torch.Tensor, scale: float) -> torch.Tensor:
    """e^(scale x) of x <= 0 as Schraudolph's straight line between powers of two, in 16 bits; 0 below e^-88."""
    line = values * (256 * 1.4426950408889634 * scale) + 32500.818359375
    bits = (torch.floor(line.clamp(0, 32767) + 0.5).int() >> 1) << 16
    return _with_nan(values, torch.where(line < 0, 0.0, bits.view(torch.float32)))


def exp_column(values: torch.Tensor, scale: float, approximate: bool, wide: bool) -> torch.Tensor:
    """e^(scale x) of attention's statistics, the scale cut to a bf16.

    For 16-bit DEST a parabola around the nearest power of two; where approximations are asked for, the usual one.
    """
    scaled = values * cut(torch.tensor(scale), 8)
    if wide or approximate:
        return exp(scaled, wide)
    whole = torch.round(scaled * LOG2_E).clamp_(-127, 127)
    rest = scaled - whole * 0.6931471805599453
    curve = (rest * 0.5062836706 + 1.015087601) * rest + 0.9998487929
    return rounded(torch.where(whole <= -127, 0.0, torch.ldexp(curve, whole)))


def reciprocal(values: torch.Tensor, approximate: bool, wide: bool) -> torch.Tensor:
    """1/x: a guess of seven bits and a Newton step, two for 32-bit DEST; approximate, the guess alone."""
    y = _newton(values, 0 if approximate else 2 if wide else 1)
    return y if wide else rounded(y)


def _newton(values: torch.Tensor, steps: int) -> torch.Tensor:
    y = _guess(values)
    for _ in range(steps):
        short = values * y - 2
        y = torch.where(short < 0, y * -short, y)  # not where the guess is 0 or infinite
    return y


def _guess(values: torch.Tensor) -> torch.Tensor:
    bits = values.contiguous().view(torch.int32)
    field = (bits >> 23) & 0xFF
    guess = ((253 - field) << 23) | (_GUESSES[(bits >> 16) & 0x7F] << 16)
    return _with_nan(values, torch.where(field < 253, guess.view(torch.float32), 0.0).copysign(values))


def reciprocal_tile(values: torch.Tensor, approximate: bool, wide: bool) -> torch.Tensor:
    """1/x of whole tiles, x > 0: for 16-bit DEST the guess, one bf16 up where that is nearer."""
    if approximate:
        return _guess(values)
    if wide:
        return 1 / values
    guess = _guess(values).view(torch.int32)
    middle = (guess | 0x8000).view(torch.float32)
    up = values.double() * middle.double() < 1
    return _with_nan(values, (guess + torch.where(up, 0x10000, 0).int()).view(torch.float32))


def rsqrt(values: torch.Tensor, approximate: bool, wide: bool) -> torch.Tensor:
    """1/sqrt(x): correctly rounded but for the approximate form, one step from a guess by the exponent."""
    if not approximate:
        y = torch.rsqrt(values)
    else:
        y = (0x5F0B3892 - (values.contiguous().view(torch.int32) >> 1)).view(torch.float32)
        y = y * (1.89099014875 - y * (values * y))
    return y if wide else rounded(y)


def silu(values: torch.Tensor, wide: bool) -> torch.Tensor:
    """``x * sigmoid(x)``."""
    if wide:
        return values * torch.sigmoid(values)
    return rounded(values * _newton(1 + _exp_parabola(-values, 1.0017248), 1))
