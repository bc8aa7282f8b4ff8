"""Verdicts on times, on samples whose truth is known: how often noise passes for a difference, and the reverse."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from harness import paired
from harness.paired import AMBG, FAST, SAME, SLOW

US, ROUNDS = 450.0, 100


def steady(rng, t):
    return rng.normal(1, 0.01, t)


def noisy(rng, t):
    return rng.normal(1, 0.05, t)


def drift(rng, t):
    return rng.normal(1, 0.01, t) * np.linspace(1, 1.2, t)


def walk(rng, t):
    return 1 + np.cumsum(rng.normal(0, 0.003, t))


def bimodal(rng, t):
    return rng.normal(1, 0.003, t) + 0.05 * (rng.random(t) < 0.5)


def sticky(rng, t):
    """Two modes that last for about 50 samples."""
    return rng.normal(1, 0.003, t) + 0.05 * (np.cumsum(rng.random(t) < 0.02) % 2)


def outliers(rng, t):
    return rng.normal(1, 0.005, t) + 2 * (rng.random(t) < 0.08)


def clock_drop(rng, t):
    return rng.normal(1, 0.005, t) * np.where(np.arange(t) > rng.integers(t), 1350 / 800, 1)


def rhythm(rng, t):
    return rng.normal(1, 0.005, t) + 0.05 * np.sin(np.arange(t) * 2 * np.pi / rng.uniform(3, 40))


MACHINES = [steady, noisy, drift, walk, bimodal, sticky, outliers, clock_drop, rhythm]


def sample(machine, seed: int, *factors: float) -> list[list[float]]:
    """Times of layers that take so many times `US`, in the order that `timing.interleaved_us` takes them."""
    rng = np.random.default_rng(seed)
    times = iter(machine(rng, ROUNDS * len(factors)))
    samples: list[list[float]] = [[] for _ in factors]
    order = np.arange(len(factors))
    for n in range(ROUNDS):
        order = order[::-1] if n % 2 else rng.permutation(order)
        for which in order:
            samples[which].append(US * factors[which] * next(times))
    return samples


def verdicts(machine, factor: float, seeds: range) -> Counter[str]:
    """Of a layer that takes `factor` times as long as the first, on samples of many seeds."""
    found: Counter[str] = Counter()
    for seed in seeds:
        first, again, other = sample(machine, seed, 1.0, 1.0, factor)
        found[paired.judge(first, other, paired.difference(first, again).farthest).verdict] += 1
    return found


@pytest.mark.parametrize("machine", MACHINES)
def test_noise_is_no_difference_and_a_difference_no_noise(machine):
    seeds = range(12)
    assert not {FAST, SLOW} & set(verdicts(machine, 1.0, seeds))
    assert not {FAST, SAME} & set(verdicts(machine, 1.06, seeds))
    assert not {SLOW, SAME} & set(verdicts(machine, 0.94, seeds))


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
def test_false_verdicts_are_rare(machine):
    seeds = range(400)
    none, more, edge = (verdicts(machine, factor, seeds) for factor in (1.0, 1.05, 1 + paired.COUNTS))
    print(machine.__name__, *(dict(c) for c in (none, more, edge)))
    assert none[FAST] + none[SLOW] <= 1 and more[FAST] + more[SAME] <= 1
    assert edge[FAST] == 0 and edge[SLOW] <= 0.05 * 400 and edge[SAME] <= 0.05 * 400


@pytest.mark.parametrize("machine, factor, verdict", [(steady, 1.0, SAME), (drift, 0.95, FAST), (walk, 1.05, SLOW)])
def test_what_the_samples_tell_is_told(machine, factor, verdict):
    assert verdicts(machine, factor, range(20))[verdict] == 20


@pytest.mark.parametrize(
    "machine, factor, noise, code",
    [(steady, 1.0, 0, "equal"), (steady, 1.02, 0, "small"), (noisy, 1.0, 0, "noise"), (steady, 1.1, 0, "clear"),
     (steady, 1.1, 0.2, "floor")],
)  # fmt: skip
def test_each_reason(machine, factor, noise, code):
    assert paired.judge(*sample(machine, 7, 1.0, factor), noise).code == code


def test_too_few_samples_and_halves_that_disagree():
    a, b = sample(steady, 0, 1.0, 1.2)
    assert paired.judge(a[:18], b[:18]).code == "few" and paired.judge(a[:20], b[:20]).verdict == SLOW
    found = paired.judge(a, [t if n < 50 else t / 1.2 for n, t in enumerate(b)])
    assert (found.verdict, found.code) == (AMBG, "unsteady")


def test_a_drift_cancels():
    """Times that grow by 1 % a sample, without noise: what is equal differs by nothing."""
    order = np.array([[0, 1], [1, 0]] * 10).argsort(axis=1) + np.arange(0, 40, 2)[:, None]
    a, b = (100 * 1.01**order).T
    assert b[0] / a[0] == pytest.approx(1.01)
    d = paired.difference(list(a), list(b))
    assert abs(d.share) < 1e-9 and d.farthest < 1e-9


def test_spread_and_interval():
    s = paired.spread([float(n) for n in range(101)])
    assert (s.median, s.p5, s.p95, s.n) == (50, 5, 95, 101)
    a, b = sample(steady, 3, 1.0, 1.1)
    d = paired.difference(a, b)
    assert d.low < d.share < d.high and d == paired.difference(a, b), "the same samples, the same interval"
    missed = sum(not d.low < 0.1 < d.high for d in (paired.difference(*sample(steady, n, 1.0, 1.1)) for n in range(60)))
    assert missed <= 8, "a 95 % interval"


def test_predictions_have_no_interval():
    verdicts = [paired.judge_exact(100, us).verdict for us in (97.9, 98.1, 101.9, 102.1)]
    assert verdicts == [FAST, SAME, SAME, SLOW]
