"""Least squares over those constants that the measurements tell apart."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

# A constant is told apart when, all others free, doubling it still moves the times by this much, all together.
TOLD_APART = 0.05
STEP = 0.08  # of a constant: large enough for those that are whole cycles
MOST = 4.0  # times its value before, or that part of it
OUTLIER = 0.1  # relative error from which a measurement counts less

Model = Callable[[Mapping[str, float]], Sequence[float]]


@dataclass(frozen=True)
class Fit:
    """``values``: every constant, ``fitted``: which of them moved. ``before``, ``after``: predicted us."""

    values: Mapping[str, float]
    fitted: tuple[str, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]


def fit(model: Model, start: Mapping[str, float], measured: Sequence[float], loose: Collection[str] = ()) -> Fit:
    """The constants with which ``model``, us by constants, comes nearest to ``measured`` in relative terms.

    ``loose``: constants known least well. Where some are not told apart, the others are kept rather than these.
    """
    from scipy.optimize import least_squares  # a slow import, which no other command needs

    logs = np.log(np.asarray(measured))

    def errors(names: Sequence[str], ratios: Iterable[float]) -> np.ndarray:
        moved = {name: start[name] * float(ratio) for name, ratio in zip(names, ratios, strict=True)}
        errors: np.ndarray = np.log(np.asarray(model({**start, **moved}))) - logs
        return errors

    before = errors((), ())
    slopes = {name: (errors([name], [1 + STEP]) - before) / np.log(1 + STEP) for name in start}
    names, ratios = told_apart(slopes, loose), np.ones(0)
    while names:
        found = least_squares(
            lambda ratios, names=names: errors(names, ratios), np.ones(len(names)), diff_step=STEP,
            bounds=(1 / MOST, MOST), loss="soft_l1", f_scale=OUTLIER, xtol=3e-3, gtol=1e-4, max_nfev=10,
        )  # fmt: skip
        ratios = found.x
        # Where the search ended another resource may bind, and a constant show no more.
        still = told_apart(dict(zip(names, (found.jac * found.x).T, strict=True)), loose)
        if still == names:
            break
        names, ratios = still, np.ones(0)
    values = {**start, **{name: start[name] * float(ratio) for name, ratio in zip(names, ratios, strict=True)}}
    after = errors(names, ratios)
    return Fit(values, tuple(names), tuple(np.exp(before + logs)), tuple(np.exp(after + logs)))


def told_apart(slopes: Mapping[str, np.ndarray], loose: Collection[str] = ()) -> list[str]:
    """The constants whose effect is not that of others together; the least so is left out first."""
    names = [name for name, slope in slopes.items() if np.linalg.norm(slope) >= TOLD_APART]
    while names:
        own = {name: _own_effect(slopes, name, names) for name in names}
        alike = [name for name in names if own[name] < TOLD_APART]
        if not alike:
            break
        names.remove(min(alike, key=lambda name: (name in loose, own[name])))
    return names


def _own_effect(slopes: Mapping[str, np.ndarray], name: str, names: Sequence[str]) -> float:
    """What is left of a constant's effect when the others make up for as much of it as they can."""
    others = np.array([slopes[other] for other in names if other != name]).T
    if not others.size:
        return float(np.linalg.norm(slopes[name]))
    shares = np.linalg.lstsq(others, slopes[name], rcond=None)[0]
    return float(np.linalg.norm(slopes[name] - others @ shares))
