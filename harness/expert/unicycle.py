"""From a normalised action to a trajectory: acceleration and curvature drive a unicycle.

Source of the constants: the released checkpoint; of the integration: NVIDIA's public model code.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

DT = 0.1  # s between waypoints
MEAN = (0.02902694707164455, 0.0002692167976330542)  # acceleration in m/s2, curvature in 1/m
STD = (0.6810426736454882, 0.026148280660833106)
BOUNDS = (9.8, 0.33)  # what a car can do, either way


@dataclass(frozen=True)
class Trajectory:
    """Poses after each step of DT, fp64 [T]: x, y in m, heading in rad, speed in m/s, and what drove there.

    The start, not among them, is the origin with heading 0, looking along x. acceleration in m/s2, curvature in 1/m.
    """

    x: torch.Tensor
    y: torch.Tensor
    heading: torch.Tensor
    speed: torch.Tensor
    acceleration: torch.Tensor
    curvature: torch.Tensor

    @property
    def beyond_bounds(self) -> torch.Tensor:
        """Which waypoints ask for more than the action space allows, bool [T]."""
        return (self.acceleration.abs() > BOUNDS[0]) | (self.curvature.abs() > BOUNDS[1])


def drive(action: torch.Tensor, v0: float) -> Trajectory:
    """Integrate a normalised action [T, 2] from speed v0 (m/s); positions by the trapezoid rule."""
    physical = action.double() * torch.tensor(STD, dtype=torch.float64) + torch.tensor(MEAN, dtype=torch.float64)
    a, kappa = physical.unbind(-1)
    start = torch.zeros(1, dtype=torch.float64)
    v = v0 + torch.cat((start, (a * DT).cumsum(0)))
    turn = kappa * (v[:-1] * DT + a * DT**2 / 2)  # curvature times the way of the step
    theta = torch.cat((start, turn.cumsum(0)))

    def way(rate: torch.Tensor) -> torch.Tensor:
        return ((rate[:-1] + rate[1:]) * (DT / 2)).cumsum(0)

    return Trajectory(way(v * theta.cos()), way(v * theta.sin()), theta[1:], v[1:], a, kappa)
