"""What `step` and `sample` print, and their records."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import torch
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from harness import costs
from harness.errors import UsageError
from harness.expert.runs import LEAST_PCC, SampleResult, StepResult, peak_memory_gb
from harness.expert.unicycle import DT, Trajectory
from harness.metrics import max_abs, pcc
from harness.report import mark

ROWS = 16  # of a trajectory's table


def render_steps(results: list[StepResult], title: str) -> RenderableType:
    """The steps beside each other, then where the predicted time of each goes."""
    table = Table(title=f"step: {title}", title_justify="left")
    for name in (
        "implementation", "verdict", "ops", "predicted ms", "/ first", "PCC", "max abs", "PCC with first",
        "weights s", "op by op s", "replay s",
    ):  # fmt: skip
        table.add_column(name, justify="left" if name in ("implementation", "verdict") else "right")
    first = results[0]
    for r in results:
        ratio = r.predicted_ms / first.predicted_ms if r.predicted_ms and first.predicted_ms else None
        table.add_row(
            r.implementation,
            mark(r.passed),
            str(sum(len(b.lines) for b in r.layers)),
            _number(r.predicted_ms, ".2f"),
            "-" if r is first else _number(ratio, ".2f", "x"),
            f"{r.pcc:.6f}",
            f"{r.error:.4f}",
            "-" if r is first else f"{pcc(r.velocity, first.velocity):.6f}",
            f"{r.weights_s:.1f}",
            f"{r.first_s:.1f}",
            _number(r.replay_s, ".1f"),
        )
    return Group(table, *(Text(line, style="dim") for line in _notes(results)), *(_ops(r) for r in results))


def _notes(results: list[StepResult]) -> list[str]:
    first = results[0]
    chip = first.layers[0].chip
    floor = first.n_layers * costs.floor_us(first.layers[0].case, chip) / 1e3
    lines = [f"PCC, max abs: the velocity against the fp32 reference of the whole expert; {LEAST_PCC} is needed"]
    if any(r.predicted_ms for r in results):
        lines.append(
            "predicted ms: sum of the ops, predicted, not measured on silicon "
            f"({chip.calibration}; docs/cost-model.md, docs/emulator.md); the host's parts of a step are not in it"
        )
    lines.append(f"DRAM floor of the layers: {floor:.2f} ms at {chip.dram_best:.0f} GB/s")
    for r in results:
        if r.eager:
            lines.append(f"{r.implementation}: eager, no trace: {r.eager}")
        elif not r.same:
            lines.append(f"{r.implementation}: the replay gave other bits than the step op by op")
        if r.step_ms is not None:
            lines.append(
                f"{r.implementation}: measured on this device: {r.step_ms:.2f} ms a step with upload and download, "
                f"{r.layer_us:.1f} us a layer in a trace of layers"
            )
    return [*lines, f"s: of the host; peak memory of this process {peak_memory_gb():.1f} GB"]


def _ops(r: StepResult) -> RenderableType:
    """The ops of all layers by what they take: predicted, or measured on a device; a simulator has no time."""
    times: defaultdict[str, float] = defaultdict(float)
    calls: Counter[str] = Counter()
    for n, b in enumerate(r.layers):
        for line in b.lines:
            label = "final norm" if n == len(r.layers) - 1 else line.label
            calls[label] += 1
            times[label] += (line.us if b.target == "device" else line.predicted_us) or 0.0
    total = sum(times.values())
    what = "device us" if r.layers[0].target == "device" else "predicted us"
    table = Table(title=f"{r.implementation}: ops of a step", title_justify="left")
    for name in ("op", "calls", *((what, "share") if total else ())):
        table.add_column(name, justify="left" if name == "op" else "right")
    for label, us in sorted(times.items(), key=lambda item: -item[1]):
        shares = (_number(us or None, ".1f"), f"{us / total:.1%}") if total else ()
        table.add_row(label, str(calls[label]), *shares)
    return table


def _number(value: float | None, style: str, unit: str = "") -> str:
    return "-" if value is None else f"{value:{style}}{unit}"


def step_dict(r: StepResult) -> dict[str, Any]:
    """A step for JSON."""
    return {
        "implementation": r.implementation,
        "passed": r.passed,
        "pcc": r.pcc,
        "max_abs": r.error,
        "ops": sum(len(b.lines) for b in r.layers),
        "predicted_ms": r.predicted_ms,
        "predicted_origin": f"{costs.ORIGIN}; {r.layers[0].chip.calibration}",
        "device_step_ms": r.step_ms,
        "device_layer_us": r.layer_us,
        "host_s": {"weights": r.weights_s, "op by op": r.first_s, "replay": r.replay_s},
        "eager": r.eager,
        "peak_memory_gb": peak_memory_gb(),
        "velocity": r.velocity.tolist(),
    }


def render_sample(r: SampleResult, want: torch.Tensor | None, title: str) -> RenderableType:
    """The trajectory, a row for every few waypoints. want: the reference's action, if it was computed."""
    t = r.trajectory
    table = Table(title=f"sample {r.implementation}: {title}", title_justify="left")
    for name in ("s", "x m", "y m", "heading deg", "speed m/s", "acceleration m/s2", "curvature 1/m"):
        table.add_column(name, justify="right")
    n = len(t.x)
    for i in range(n // min(n, ROWS) - 1, n, n // min(n, ROWS)):
        table.add_row(
            f"{(i + 1) * DT:.1f}",
            f"{t.x[i]:.2f}",
            f"{t.y[i]:.2f}",
            f"{math.degrees(t.heading[i]):.1f}",
            f"{t.speed[i]:.2f}",
            f"{t.acceleration[i]:.2f}",
            f"{t.curvature[i]:.4f}",
        )
    lines = [f"{len(r.points)} Euler steps in {r.host_s:.1f} s of the host (no device time)"]
    if r.eager:
        lines.append(f"eager, no trace: {r.eager}")
    if not r.passed(want):
        lines.append("FAIL: the action is not finite" if not r.action.isfinite().all() else "FAIL: not the reference's")
    if beyond := int(t.beyond_bounds.sum()):
        lines.append(f"{beyond} of {n} waypoints ask for more than the action space allows")
    if want is not None:
        start = r.points[0].x
        lines.append(
            f"against the fp32 reference: action PCC {pcc(r.action, want):.6f}, max abs {max_abs(r.action, want):.4f}; "
            f"the flow alone (action - noise) PCC {pcc(r.action - start, want - start):.6f}"
        )
    return Group(table, *(Text(line, style="dim") for line in lines))


def sample_dict(r: SampleResult, want: torch.Tensor | None) -> dict[str, Any]:
    """A sample for JSON."""
    t = r.trajectory
    return {
        "implementation": r.implementation,
        "passed": r.passed(want),
        "action": r.action.tolist(),
        "trajectory": {name: getattr(t, name).tolist() for name in Trajectory.__dataclass_fields__},
        "steps": [{"t": p.t, "x": p.x.tolist(), "v": p.v.tolist()} for p in r.points],
        "action_pcc": pcc(r.action, want) if want is not None else None,
        "host_s": r.host_s,
        "eager": r.eager,
    }


def check_plot(path: Path | None) -> None:
    """Raise `UsageError` unless a plot can be drawn; better before the work than after it."""
    if path is None:
        return
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise UsageError("--plot needs matplotlib: pip install 'layerbench[plot]'") from None
    if path.suffix not in (".png", ".svg", ".pdf"):
        raise UsageError(f"cannot draw {path}: the name must end with .png, .svg or .pdf")
    if not path.parent.is_dir():
        raise UsageError(f"cannot draw {path}: there is no folder {path.parent}")


def plot(path: Path, t: Trajectory, title: str) -> None:
    """The way from above, and speed and curvature over time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    axes = figure.subplot_mosaic([["way", "way"], ["speed", "curvature"]])
    way, speed, curvature = axes["way"], axes["speed"], axes["curvature"]
    way.plot(t.x, t.y, marker=".")
    way.set(title=title, xlabel="x (m)", ylabel="y (m)", aspect="equal", adjustable="datalim")
    seconds = [DT * (i + 1) for i in range(len(t.x))]
    speed.plot(seconds, t.speed)
    speed.set(xlabel="s", ylabel="speed (m/s)")
    curvature.plot(seconds, t.curvature)
    curvature.set(xlabel="s", ylabel="curvature (1/m)")
    try:
        figure.savefig(path)
    except OSError as error:
        raise UsageError(f"cannot draw {path}: {error.strerror}") from error
