"""The one place that decides whether a layer is right.

A tensor is close to the oracle's if every part of a conjunction holds. The bar is the error that the op graph makes of
the same inputs (harness/opgraph_arithmetic.py), of several draws the largest, and each limit a multiple of it: a better
layer passes, a worse one does not. docs/accuracy.md has the evidence: what right implementations measure, and the
faults each part catches.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from harness import metrics
from harness.case import Inputs
from harness.expected import expected

# Limits, as multiples of the bar's own figure.
RELATIVE_L2 = 1.5
LARGEST = 4.0  # max abs: the extreme of many values varies
LARGEST_ULP = 4.0
SLICE = {"token": 4.5, "channel": 3.5, "head": 1.5, "tile": 1.75}  # L2 of one of them
TYPICAL = 0.9  # quantile of the bar's slices that a slice may always have
UNEVEN = 3  # and this part of the bar's worst: a query between two keys makes most of the error, in either
# How far the best-fit scale may lie outside of the range from 1 to the bar's. For the attention's share it is as wide
# as the decode op's own bias in 16-bit DEST, up to 1.6 % at ttnn 0.81.1; an output may be little else.
SCALE = {"attention": 0.025, "mlp": 0.004, "residual": 0.002, "output": 0.01, "itself": 0.006, "offset": 0.002}
EDGE_ROW = 0.5  # of what a row missed or seen would change
TOLD = 0.9  # with more slack, a row missed cannot be told from rounding
HIFI2 = {"mlp": 0.0095}  # what cutting activations to 7 bits costs, where no rounding of the norms makes up for it
FULL = ("output", "itself", "attention", "mlp")
SHARES = ("attention", "mlp", "residual")
FIRST = "first call"  # the call of the parts that name none
STANDARD_ERRORS, EDGE_ERRORS = 3, 8  # on top: what chance may do to the fit
ROUNDINGS = 2.0**-8  # of both residual adds to bf16, at most: a share of x where one of its values outweighs all others


@dataclass(frozen=True)
class Aspect:
    """One figure of a tensor, in its limits or not.

    ratio   of the figure to its limit, where it has an upper one
    short   the figure for a column of a table; `text` says the limit too
    """

    name: str
    passed: bool
    text: str
    value: float
    ratio: float | None = None
    short: str = ""


@dataclass(frozen=True)
class Part:
    """One part of a verdict: what was looked at, whether it is right, and the figures as text.

    numbers   the figures for the JSON record
    aspects   of the closeness of a tensor, one each; all must pass
    call      which call of the layer it is about; empty for the first
    error     of a tensor, what was got less what is right: [T, channels] or [heads, T, d], fp64
    bar       the rms of the op graph's own error there
    """

    name: str
    passed: bool
    text: str
    numbers: dict[str, float] = field(default_factory=dict)
    aspects: tuple[Aspect, ...] = ()
    call: str = ""
    error: torch.Tensor | None = field(default=None, compare=False, repr=False)
    bar: float = field(default=0.0, compare=False, repr=False)

    @property
    def title(self) -> str:
        """For people."""
        return f"{self.call}: {self.name}" if self.call else self.name

    @property
    def failure(self) -> str:
        """What is wrong with a part that did not pass."""
        return "; ".join(f"{a.name} {a.text}" for a in self.aspects if not a.passed) or self.text

    def nearness(self) -> tuple[bool, float]:
        """Orders parts: those that failed last, before them the nearest to a limit."""
        ratios = [a.ratio for a in self.aspects if a.ratio is not None]
        return not self.passed, max(ratios, default=math.inf)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        aspects = {
            a.name: {"passed": a.passed, "text": a.text, "value": a.value, "of_limit": a.ratio} for a in self.aspects
        }
        own = {"name": self.title, "passed": self.passed, "text": self.text}
        return {**own, **self.numbers, "aspects": aspects}

    def aspect(self, name: str) -> Aspect | None:
        """The aspect of that name, if it was looked at."""
        return next((a for a in self.aspects if a.name == name), None)


def layer(
    inputs: Inputs, k: torch.Tensor, v: torch.Tensor, out: torch.Tensor, k_rows: torch.Tensor, v_rows: torch.Tensor
) -> list[Part]:
    """Output, update `out - x` and own rows beside the oracle's.

    k, v, k_rows, v_rows   caches as the device was given them, [1, n_kv, Smax, d]; own rows read back, [n_kv, T, d]
    """
    e = expected(inputs, k, v)
    want, bar, x = e.want, e.bar, e.x
    out = out.double().reshape(x.shape)
    return [
        close("output", out, want.out, bar.out),
        close("update", out - x, want.out - x, bar.out.double() - x, e.shares),
        close("K rows", k_rows, want.k, bar.k[None]),
        close("V rows", v_rows, want.v, bar.v[None]),
    ]


def close(
    name: str,
    got: torch.Tensor,
    want: torch.Tensor,
    bar: torch.Tensor,
    shares: Mapping[str, torch.Tensor] | None = None,
) -> Part:
    """Is `got` as close to `want` as a draw of `bar` is, in every aspect? [T, channels] or [heads, T, d].

    bar      [draws, ...]; in each aspect the draw farthest from `want` counts
    shares   what got is to be a sum of, by name: with coefficients near 1 if in `FULL`, near 0 if not; want itself
             unless told
    """
    got, want, bar = got.double(), want.double(), bar.double()
    numbers = {
        "pcc": metrics.pcc(got, want),
        "relative_l2": metrics.relative_l2(got, want),
        "max_abs": metrics.max_abs(got, want),
    }
    error, bars = got - want, bar - want
    rms = float(bars.pow(2).mean().sqrt())
    if not got.isfinite().all():
        return Part(name, False, "not finite", numbers, (finite_aspect(got),), error=error, bar=rms)
    draws = [metrics.slices(b) for b in bars]
    times = float(_limit(RELATIVE_L2, torch.stack([draw["token"][0] for draw in draws]).mean(0)))
    aspects = [
        _at_least("PCC", numbers["pcc"], times, min(metrics.pcc(draw, want) for draw in bar)),
        _at_most("relative L2", numbers["relative_l2"], times, max(metrics.relative_l2(b, want) for b in bar)),
        *_scales(got, bar, shares or {name if name in SCALE else "itself": want}),
    ]
    if not shares:  # else the error is another part's
        aspects += [*_extremes(error, bars, want), *_slices(error, draws)]
    text = "; ".join(f"{a.name} {a.text}" for a in aspects)
    return Part(name, all(a.passed for a in aspects), text, numbers, tuple(aspects), error=error, bar=rms)


def finite_aspect(got: torch.Tensor) -> Aspect:
    """No NaN and no infinity."""
    bad = int((~got.isfinite()).sum())
    text = (
        "all finite" if not bad else f"{bad} of {got.numel()} values are NaN or infinite, one at {metrics.place(got)}"
    )
    return Aspect("finite", bad == 0, text, bad)


def finite(name: str, got: torch.Tensor) -> Part:
    """No NaN and no infinity."""
    aspect = finite_aspect(got)
    return Part(name, aspect.passed, aspect.text)


def _at_least(name: str, pcc: float, times: float, bar: float) -> Aspect:
    limit = 1 - times**2 * (1 - bar)  # 1 - PCC is a square
    text = f"{pcc:.6f} (>= {limit:.6f})"
    return Aspect(name, pcc >= limit, text, pcc, (1 - pcc) / (1 - limit), f"{pcc:.6f}")


def _at_most(name: str, value: float, times: float, bar: float, where: str = "") -> Aspect:
    text = f"{value:.4g}{where}, {value / bar:.2f}x the op graph's (<= {times:.3g}x)"
    short = f"{value:.3g} {value / bar:.2f}x"
    return Aspect(name, value <= times * bar, text, value, value / (times * bar), short)


def _extremes(error: torch.Tensor, bars: torch.Tensor, want: torch.Tensor) -> list[Aspect]:
    """The largest absolute difference beyond an ulp, and the most ulps."""
    ulp = metrics.ulp(want)
    ours, theirs = error.abs() / ulp, bars.abs() / ulp
    beyond = (error.abs() - ulp).clamp(min=0)
    at_most, at_ulp = f" beyond an ulp at {metrics.place(beyond)}", f" at {metrics.place(ours)}"
    return [
        _at_most("max abs", float(beyond.max()), LARGEST, float(bars.abs().max()), at_most),
        _at_most("ulp", float(ours.max()), LARGEST_ULP, float(theirs.max()), at_ulp),
    ]


def _scales(got: torch.Tensor, bar: torch.Tensor, fits: Mapping[str, torch.Tensor]) -> list[Aspect]:
    """Coefficients of the best fit, within the range that reaches from the right ones to the bar's."""
    columns = {**fits, "offset": torch.ones_like(got)}
    ours, theirs = metrics.fit(got, columns), [metrics.fit(draw, columns) for draw in bar]
    # An offset counts in units of what is fitted.
    unit = float(bar.pow(2).mean().sqrt())
    aspects = []
    for name, coefficient in ours.items():
        size = unit if name == "offset" else 1.0
        right, value = float(name in FULL), coefficient.value / size
        others = [fit[name].value / size for fit in theirs]
        least, errors = (SCALE[name], STANDARD_ERRORS) if name in SCALE else (EDGE_ROW, EDGE_ERRORS)
        if name == "residual":
            least += ROUNDINGS * metrics.concentration(columns[name]) ** 0.5
        slack = least + errors * max(fit[name].error for fit in theirs) / size
        if name not in SCALE and slack > TOLD:
            continue
        low = min(right - HIFI2.get(name, 0.0), *others) - slack
        high = max(right, *others) + slack
        kind = {"output": "scale", "itself": "scale"}.get(name, f"scale of {name}" if name in SHARES else name)
        text = f"{value:.4f} (in {low:.4f}..{high:.4f})"
        aspects.append(Aspect(kind, low <= value <= high, text, value, short=f"{value:.4f}"))
    return aspects


def _slices(error: torch.Tensor, draws: Sequence[Mapping[str, torch.Tensor]]) -> list[Aspect]:
    """The token, channel or head, and tile that is worst beside the bar's, whose slices `draws` are."""
    aspects = []
    for name, square in metrics.slices(error).items():
        squares = torch.stack([draw[name] for draw in draws])
        theirs = squares.sum(1).sqrt()
        typical = max(torch.quantile(theirs, TYPICAL), theirs.max() / UNEVEN)
        ratios = square.sum(0).sqrt() / theirs.amax(0).clamp(min=float(typical))
        limits = _limit(SLICE[name], squares.mean(0))
        of_limit = ratios / limits
        where, worst = metrics.place(of_limit), int(of_limit.argmax())
        ratio, limit = float(ratios.flatten()[worst]), float(limits.flatten()[worst])
        text = f"{where} {ratio:.2f}x the op graph's (<= {limit:.3g}x)"
        aspects.append(Aspect(f"worst {name}", ratio <= limit, text, ratio, ratio / limit, f"{where} {ratio:.2f}x"))
    return aspects


def _limit(even: float, square: torch.Tensor) -> torch.Tensor:
    """Limit of an L2, `square` the bar's by token [tokens, ...]: what a token may, so far as one makes it up."""
    return (even**2 + (SLICE["token"] ** 2 - even**2) * metrics.excess(square)).sqrt()


def identical(name: str, got: torch.Tensor, want: torch.Tensor, what: str = "") -> Part:
    """Equal bit for bit; `what` says what a difference means."""
    # Values, not storage: a NaN equals itself here, for the same bits must pass.
    differs = got != want
    if differs.any():
        differs &= ~(got.isnan() & want.isnan())
    if not differs.any():
        return Part(name, True, "bit-identical")
    first = ", ".join(str(int(n)) for n in differs.nonzero()[0])
    return Part(name, False, f"{int(differs.sum())} values differ, the first at [{first}]{': ' if what else ''}{what}")
