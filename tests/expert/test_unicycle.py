"""Trajectories: closed forms, and the differential equation itself."""

from __future__ import annotations

import math

import pytest
import torch

from harness.expert.unicycle import DT, MEAN, STD, drive


def normalised(a: torch.Tensor, kappa: torch.Tensor) -> torch.Tensor:
    return torch.stack(((a - MEAN[0]) / STD[0], (kappa - MEAN[1]) / STD[1]), -1)


def constant(a: float, kappa: float, n: int = 64) -> torch.Tensor:
    return normalised(torch.full((n,), a, dtype=torch.float64), torch.full((n,), kappa, dtype=torch.float64))


def test_an_action_of_zeros_is_the_mean_drive():
    t = drive(torch.zeros(64, 2), v0=10.0)
    assert t.acceleration[0] == pytest.approx(MEAN[0]) and t.curvature[-1] == pytest.approx(MEAN[1])
    assert t.x.shape == (64,) and t.speed[-1] == pytest.approx(10 + MEAN[0] * 6.4)


def test_straight_on_is_a_parabola_in_time():
    t = drive(constant(1.5, 0.0), v0=4.0)
    time = DT * torch.arange(1, 65, dtype=torch.float64)
    assert torch.allclose(t.x, 4 * time + 0.75 * time**2)
    assert torch.allclose(t.speed, 4 + 1.5 * time)
    assert t.y.abs().max() < 1e-12 and t.heading.abs().max() < 1e-12


def test_constant_curvature_is_a_circle():
    t = drive(constant(0.0, 0.05), v0=8.0)
    angle = 0.05 * 8.0 * DT * torch.arange(1, 65, dtype=torch.float64)
    assert torch.allclose(t.heading, angle)
    # The trapezoid rule takes the chord of an arc of d rad as shorter by d^2 / 12.
    radius, d = 1 / 0.05, float(angle[0])
    assert torch.allclose(t.x, radius * angle.sin(), atol=radius * d**2 / 6)
    assert torch.allclose(t.y, radius * (1 - angle.cos()), atol=radius * d**2 / 6)
    assert t.y[-1] > 0, "positive curvature turns left"


def test_the_trajectory_solves_the_equation():
    """Against the differential equation with the same piecewise constant action, in steps a thousand times as fine."""
    gen = torch.Generator().manual_seed(0)
    action = torch.randn(64, 2, generator=gen)
    t = drive(action, v0=9.0)
    x = y = theta = 0.0
    v, fine = 9.0, DT / 1000
    for a, kappa in zip(t.acceleration.tolist(), t.curvature.tolist(), strict=True):
        for _ in range(1000):
            middle = v + a * fine / 2
            theta_middle = theta + kappa * middle * fine / 2
            x += middle * math.cos(theta_middle) * fine
            y += middle * math.sin(theta_middle) * fine
            theta += kappa * middle * fine
            v += a * fine
    assert float(t.speed[-1]) == pytest.approx(v)
    assert float(t.heading[-1]) == pytest.approx(theta, abs=1e-9)
    assert math.hypot(float(t.x[-1]) - x, float(t.y[-1]) - y) < 0.01, "m, after some 60"


def test_what_no_car_can_do_is_marked():
    action = normalised(torch.tensor([0.0, 9.9, -9.9, 0.0]), torch.tensor([0.32, 0.0, 0.0, -0.34]))
    assert drive(action, 5.0).beyond_bounds.tolist() == [False, True, True, True]
