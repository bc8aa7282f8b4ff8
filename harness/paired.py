"""What samples taken in turn say about two times. Pure functions of the samples.

A round takes one sample of each; rounds come in twos, the second in the order of the first reversed, so that a steady
drift cancels in the two together. Ratios are compared, so that a clock that changes between rounds cancels too. Their
median is the difference, and a bootstrap over the twos gives its interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FAST, SLOW, SAME, AMBG = "FAST", "SLOW", "SAME", "AMBG"
# The least share of a time that counts: where code happens to lie in memory makes about as much (tt-metal issues
# 51897, 53763).
COUNTS = 0.02
FEWEST = 10  # twos of rounds: of fewer, the interval of a median means little
CONFIDENCE = 95  # %
RESAMPLES = 1000
Samples = Sequence[float]
Logs = NDArray[np.float64]  # of B / A, one for each two of rounds


@dataclass(frozen=True)
class Spread:
    """Median and percentiles of n samples."""

    median: float
    p5: float
    p95: float
    n: int


@dataclass(frozen=True)
class Difference:
    """B less A as a share of A, and the ends of its 95 % interval."""

    share: float
    low: float
    high: float

    @property
    def farthest(self) -> float:
        """The end that is farther from none."""
        return max(abs(self.low), abs(self.high))


@dataclass(frozen=True)
class Finding:
    """FAST, SLOW, SAME or AMBG (the samples do not tell), and why. code: the reason in a word."""

    verdict: str
    code: str
    reason: str


def spread(samples: Samples) -> Spread:
    """Of one implementation's samples."""
    p5, median, p95 = np.percentile(samples, (5, 50, 95))
    return Spread(float(median), float(p5), float(p95), len(samples))


def difference(a: Samples, b: Samples) -> Difference:
    """B less A. Samples of the same place belong to one round, rounds 2n and 2n + 1 ran in opposite orders."""
    return _median(_twos(a, b))


def judge(a: Samples, b: Samples, noise: float = 0.0) -> Finding:
    """Is B faster than A? noise: the share by which A may differ from itself."""
    twos = _twos(a, b)
    if len(twos) < FEWEST:
        return Finding(AMBG, "few", f"{2 * len(twos)} rounds; it takes {2 * FEWEST}")
    first, second = _median(twos[: len(twos) // 2]), _median(twos[len(twos) // 2 :])
    apart = max(first.low, second.low) > min(first.high, second.high)
    if apart and abs(first.share - second.share) > COUNTS:
        halves = f"{first.share:+.1%} in the first half of the rounds, {second.share:+.1%} in the second"
        return Finding(AMBG, "unsteady", halves)
    d = _median(twos)
    if d.farthest <= COUNTS:
        return Finding(SAME, "equal", f"all of the interval lies within {COUNTS:.0%}")
    nearest = max(d.low, -d.high)
    if nearest <= 0:
        return Finding(AMBG, "noise", f"the interval holds 0 and reaches beyond {COUNTS:.0%}")
    if nearest <= COUNTS:
        return Finding(AMBG, "small", f"a difference, but perhaps one within {COUNTS:.0%}")
    if nearest <= noise:
        return Finding(AMBG, "floor", f"the first differs from itself by up to {noise:.1%}")
    return Finding(SLOW if d.share > 0 else FAST, "clear", f"all of the interval lies beyond {COUNTS:.0%}")


def judge_exact(a: float, b: float) -> Finding:
    """The same of two times without a spread, as predictions are."""
    share = (b - a) / a
    if abs(share) <= COUNTS:
        return Finding(SAME, "equal", f"{share:+.1%}, within {COUNTS:.0%}")
    return Finding(SLOW if share > 0 else FAST, "clear", f"{share:+.1%}, beyond {COUNTS:.0%}")


def _twos(a: Samples, b: Samples) -> Logs:
    even = len(a) // 2 * 2
    return np.log(np.asarray(b[:even]) / np.asarray(a[:even])).reshape(-1, 2).mean(axis=1)


def _median(twos: Logs) -> Difference:
    """With its percentile bootstrap; the resamples are the same at each call."""
    chosen = np.random.default_rng(0).integers(0, len(twos), (RESAMPLES, len(twos)))
    medians = np.median(twos[chosen], axis=1)
    low, high = np.percentile(medians, ((100 - CONFIDENCE) / 2, (100 + CONFIDENCE) / 2))
    return Difference(*(float(np.expm1(v)) for v in (np.median(twos), low, high)))
