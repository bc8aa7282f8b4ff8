"""What the commands `step` and `sample` do: one expert on an open target, measured and judged."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import torch

from harness.breakdown import Breakdown
from harness.case import Case
from harness.expert.cache import TensorCache
from harness.expert.checkpoint import Checkpoint
from harness.expert.expert import Expert, Settings
from harness.expert.kv import KvFile, KvRows, Prompt, SyntheticKv, upload
from harness.expert.progress import Layers
from harness.expert.sampling import Point
from harness.expert.unicycle import Trajectory, drive
from harness.expert.weights import ExpertWeights, RandomWeights
from harness.metrics import max_abs, pcc
from harness.registry import Spec
from harness.shape import LayerShape
from harness.targets import Target

LAYERS = 64  # of Alpamayo 2 Super's expert
# A layer left out, another layer's cache or a wrong time give less (tests/expert/test_runs.py). A position off by one
# does not: `check` judges the layer more strictly than a whole step can be.
LEAST_PCC = 0.99
Stage = Callable[[str], Layers]  # the name of a stage -> what is told of its layers


@dataclass(frozen=True)
class Problem:
    """An expert at a context: the weights, the rows that the text model left, how it runs, and the seed of the rest."""

    weights: ExpertWeights
    kv: KvRows
    settings: Settings
    seed: int

    @classmethod
    def of(
        cls,
        shape: LayerShape,
        n_layers: int | None,
        checkpoint: Path | None,
        kv: Path | None,
        S: int,
        rope_delta: int,
        settings: Settings,
        seed: int,
    ) -> Problem:
        """Weights from `checkpoint` or the seed, rows from the file `kv` or the seed. `UsageError` on what is wrong."""
        weights: ExpertWeights
        weights = (
            Checkpoint(checkpoint, shape, n_layers) if checkpoint else RandomWeights(shape, n_layers or LAYERS, seed)
        )
        rows: KvRows
        rows = KvFile(kv, shape, weights.n_layers) if kv else SyntheticKv(shape, S, rope_delta, seed)
        s = settings
        Case(shape, 0, rows.S, s.Smax, rows.rope_delta, s.weights, s.cache, seed)  # says what does not fit
        return cls(weights, rows, settings, seed)

    def prompt(self, target: Target, layers: Layers) -> Prompt:
        """The caches on the device."""
        s = self.settings
        return upload(target, self.kv, self.weights.shape, self.weights.n_layers, s.Smax, s.cache, layers)

    def __str__(self) -> str:
        s = self.settings
        return (
            f"{self.weights.n_layers} layers, S {self.kv.S}, Smax {s.Smax}, rope_delta {self.kv.rope_delta}, "
            f"weights {s.weights}, cache {s.cache}, seed {self.seed}"
        )


@dataclass(frozen=True)
class StepResult:
    """One step of one implementation.

    velocity     [T, 2]
    pcc, error   its PCC with the reference's, and the largest difference
    n_layers     of the expert
    layers       the breakdown of each call for layers, then of the final norm
    first_s      host seconds of the step op by op; replay_s: of a replay of its trace (None: eager says why not)
    weights_s    host seconds until the weights were on the device
    same         whether the replay gave the bits of the step op by op
    step_ms, layer_us   measured on a device; None elsewhere
    """

    implementation: str
    velocity: torch.Tensor
    pcc: float
    error: float
    n_layers: int
    layers: list[Breakdown]
    weights_s: float
    first_s: float
    replay_s: float | None
    eager: str | None
    same: bool
    step_ms: float | None
    layer_us: float | None

    @property
    def passed(self) -> bool:
        """Near the reference, and the same however it is launched."""
        return self.pcc >= LEAST_PCC and self.same

    @property
    def predicted_ms(self) -> float | None:
        """Sum of the ops' predictions; None unless every op has one."""
        times = [b.predicted_us for b in self.layers]
        return sum(t for t in times if t is not None) / 1e3 if None not in times else None


def run_step(
    target: Target,
    spec: Spec,
    problem: Problem,
    prompt: Prompt,
    action: torch.Tensor,
    t: float,
    want: torch.Tensor,
    kept: TensorCache | None,
    stage: Stage,
) -> StepResult:
    """One step of `spec` from `action` at `t`, op by op, then as a trace; `want` is the reference's velocity."""
    start = time.perf_counter()
    expert = Expert(target, spec, problem.weights, problem.settings, kept, stage("weights"))
    weights_s = time.perf_counter() - start
    start = time.perf_counter()
    velocity, layers = expert.observed_step(action, t, prompt, stage("op by op"))
    first_s, replay_s, same = time.perf_counter() - start, None, True
    step_ms = layer_us = None
    if not expert.eager:
        start = time.perf_counter()
        same = torch.equal(expert.step(action, t, prompt, stage("replay")), velocity)
        replay_s = time.perf_counter() - start
        if target.name == "device":
            step_ms = median(expert.bench_step(prompt))
            layer_us = expert.layer_us(prompt)
    expert.close()
    near = pcc(velocity, want), max_abs(velocity, want)
    return StepResult(
        str(spec),
        velocity,
        *near,
        expert.n_layers,
        layers,
        weights_s,
        first_s,
        replay_s,
        expert.eager,
        same,
        step_ms,
        layer_us,
    )


@dataclass(frozen=True)
class SampleResult:
    """An action and where it leads: action [T, 2], each Euler step, host seconds; eager: why there was no trace."""

    implementation: str
    action: torch.Tensor
    points: tuple[Point, ...]
    trajectory: Trajectory
    host_s: float
    eager: str | None

    def passed(self, want: torch.Tensor | None) -> bool:
        """Finite, and near the reference's action `want` if there is one."""
        near = want is None or pcc(self.action, want) >= LEAST_PCC
        return bool(self.action.isfinite().all()) and near


def run_sample(
    target: Target,
    spec: Spec,
    problem: Problem,
    prompt: Prompt,
    x0: torch.Tensor,
    n_steps: int,
    v0: float,
    kept: TensorCache | None,
    stage: Stage,
) -> SampleResult:
    """Sample an action from `x0` and drive it from `v0` m/s."""
    expert = Expert(target, spec, problem.weights, problem.settings, kept, stage("weights"))
    points: list[Point] = []
    layers = [stage("step 1")]

    def record(point: Point) -> None:
        points.append(point)
        if len(points) < n_steps:
            layers[0] = stage(f"step {len(points) + 1}")

    start = time.perf_counter()
    action = expert.sample(x0, prompt, n_steps, record, lambda done, of: layers[0](done, of))
    host_s = time.perf_counter() - start
    expert.close()
    return SampleResult(str(spec), action, tuple(points), drive(action, v0), host_s, expert.eager)


def peak_memory_gb() -> float:
    """Most memory that this process has held, the emulated device's included."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most * (1 if sys.platform == "darwin" else 1024) / 1e9
