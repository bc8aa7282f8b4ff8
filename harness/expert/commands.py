"""The commands of the whole expert: step, sample, make-checkpoint, cache."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated

import torch
import typer
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from harness import options, record, registry, report
from harness.check import describe
from harness.costs import parse_chip
from harness.emulator.toolchain import cache_dir
from harness.errors import UsageError
from harness.expert import render, runs
from harness.expert.cache import TensorCache
from harness.expert.checkpoint import make_checkpoint
from harness.expert.expert import Settings
from harness.expert.names import SCHEMES
from harness.expert.progress import Layers
from harness.expert.reference import Reference
from harness.expert.sampling import STEPS, noise
from harness.expert.weights import RandomWeights
from harness.shape import parse_shape
from harness.targets import Target, open_target

TRACE_REGION = 64 << 20  # bytes, for 64 layers of 19 ops; ttnn says what it needs where this is too little
Layer = Annotated[int | None, typer.Option("--layers", help="How many layers; 64, or all of the checkpoint.")]
Folder = Annotated[Path | None, typer.Option("--checkpoint", metavar="DIR", help="Its weights instead of random ones.")]
KvPath = Annotated[
    Path | None,
    typer.Option("--kv", metavar="FILE", help="safetensors: layers.N.key and .value; instead of made-up rows."),
]
Eager = Annotated[bool, typer.Option("--eager", help="Launch op by op; no trace.")]
Exact = Annotated[bool, typer.Option("--exact", help="Exact frequencies in the input projection.")]
Keep = Annotated[bool, typer.Option(help="Keep converted weights on disk; see `layerbench cache`.")]

cache_app = typer.Typer()


def problem_options(
    shape: options.Shape = "alpamayo2_super",
    layers: Layer = None,
    checkpoint: Folder = None,
    kv: KvPath = None,
    seq_len: options.SeqLen = 4592,
    max_seq: options.MaxSeq = 8192,
    rope_delta: options.RopeDelta = -3888,
    weights: options.Weights = "bfp8",
    cache: options.Cache = "bf16",
    exact: Exact = False,
    eager: Eager = False,
    seed: options.Seed = 0,
) -> runs.Problem:
    """The expert and the context that a command's options describe. The defaults are those of a prompt of 24 images."""
    if layers is not None and layers < 1:
        raise UsageError(f"layers is {layers}; it must be 1 or more")
    settings = Settings(max_seq, weights, cache, exact, eager)
    return runs.Problem.of(parse_shape(shape), layers, checkpoint, kv, seq_len, rope_delta, settings, seed)


def weight_cache() -> TensorCache:
    """Where converted weights are kept."""
    return TensorCache(cache_dir() / "weights")


@contextmanager
def _stages() -> Iterator[runs.Stage]:
    """A bar over the stages of long work on a terminal's stderr, each counted in layers; gone when it ends."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    console = report.make_console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:

        def stage(name: str) -> Layers:
            task = bar.add_task(name, total=None)

            def layers(done: int, of: int) -> None:
                bar.update(task, completed=done, total=of, description=f"{name}: layer {done} of {of}")

            return layers

        yield stage


@contextmanager
def _opened(target: str, problem: runs.Problem, chip: str = "p150") -> Iterator[Target]:
    """The target with room for a trace, unless the real ttnn is asked to go op by op: it is faster without."""
    with open_target(target, 0 if problem.settings.eager else TRACE_REGION, chip=parse_chip(chip)) as opened:
        try:
            yield opened
        except (UsageError, typer.Exit):
            raise
        except (Exception, SystemExit) as error:
            report.make_console().print(f"FAIL: {describe(error)}", markup=False)
            raise typer.Exit(1) from None


@options.takes("problem", problem_options)
def step(
    problem: runs.Problem,
    impl: Annotated[list[str], typer.Option(help="An implementation; again for another beside it.")] = ["op_graph"],  # noqa: B006
    t: Annotated[float, typer.Option("--time", help="Where on the way from noise (0) to the action (1).")] = 0.0,
    target: options.TargetName = "emulator",
    chip: options.ChipName = "p150",
    keep: Keep = True,
    json: options.Json = None,
) -> None:
    """One step of the whole expert: all layers, right? and how long?"""
    if not 0 <= t <= 1:
        raise UsageError(f"time is {t}; it must lie in 0..1")
    record.check_path(json)
    specs = [registry.parse(name) for name in impl]
    with _opened(target, problem, chip) as opened:
        with _stages() as stage:
            action = noise(problem.weights.shape.tokens, problem.seed)
            want = Reference(problem.weights, problem.kv, problem.settings.exact).step(action, t, stage("reference"))
            if not want.isfinite().all():
                raise UsageError("the reference's own velocity is not finite: the weights or the cached rows are not")
            prompt = problem.prompt(opened, stage("caches"))
            kept = weight_cache() if keep else None
            results = [runs.run_step(opened, spec, problem, prompt, action, t, want, kept, stage) for spec in specs]
        report.make_console().print(opened.opened, render.render_steps(results, str(problem)), sep="\n")
        if json:
            record.write(json, "step", opened, {"steps": [render.step_dict(r) for r in results]})
        opened.exit_code = 0 if all(r.passed for r in results) else 1
    raise typer.Exit(opened.exit_code)


@options.takes("problem", problem_options)
def sample(
    problem: runs.Problem,
    impl: Annotated[list[str], typer.Option(help="The implementation of the layer.")] = ["op_graph"],  # noqa: B006
    steps: Annotated[int, typer.Option(help="Euler steps.")] = STEPS,
    v0: Annotated[float, typer.Option(help="Speed at the start, m/s.")] = 10.0,
    temperature: Annotated[float, typer.Option(help="Scale of the noise.")] = 1.0,
    reference: Annotated[bool, typer.Option("--reference", help="Also sample with the torch reference.")] = False,
    target: options.TargetName = "emulator",
    keep: Keep = True,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the trajectory to FILE (.png, ...).")] = None,
    json: options.Json = None,
) -> None:
    """A trajectory: the action that noise flows to, and where it leads."""
    if steps < 1:
        raise UsageError(f"steps is {steps}; it must be 1 or more")
    if len(impl) > 1:
        raise UsageError(f"sample takes one implementation, not {len(impl)}; `layerbench step` sets them side by side")
    if not math.isfinite(v0):
        raise UsageError(f"v0 is {v0}; it must be a speed in m/s")
    if not 0 <= temperature < math.inf:
        raise UsageError(f"temperature is {temperature}; it must be 0 or more")
    record.check_path(json)
    render.check_plot(plot)
    spec = registry.parse(impl[0])
    with _opened(target, problem) as opened:
        with _stages() as stage:
            x0 = noise(problem.weights.shape.tokens, problem.seed, temperature)
            prompt = problem.prompt(opened, stage("caches"))
            kept = weight_cache() if keep else None
            result = runs.run_sample(opened, spec, problem, prompt, x0, steps, v0, kept, stage)
            want: torch.Tensor | None = None
            if reference:
                stage("reference")
                want = Reference(problem.weights, problem.kv, problem.settings.exact).sample(x0, steps)
        report.make_console().print(opened.opened, render.render_sample(result, want, str(problem)), sep="\n")
        if plot:
            render.plot(plot, result.trajectory, f"{result.implementation}, {steps} steps")
        if json:
            record.write(json, "sample", opened, render.sample_dict(result, want))
        opened.exit_code = 0 if result.passed(want) else 1
    raise typer.Exit(opened.exit_code)


def make(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new or an empty folder.")],
    shape: options.Shape = "alpamayo2_super",
    layers: Annotated[int, typer.Option(help="How many layers.")] = runs.LAYERS,
    scheme: Annotated[str, typer.Option(help=f"Names as in {', '.join(SCHEMES)}.")] = "Alpamayo 2",
    seed: options.Seed = 0,
) -> None:
    """Write a random checkpoint with the real names: what the other commands use for the same seed without one."""
    if layers < 1:
        raise UsageError(f"layers is {layers}; it must be 1 or more")
    if scheme not in SCHEMES:
        raise UsageError(f"unknown scheme {scheme!r}; known: {', '.join(SCHEMES)}")
    weights = RandomWeights(parse_shape(shape), layers, seed)
    with _stages() as stage:
        make_checkpoint(folder, weights, scheme, progress=stage("shards"))
    report.make_console().print(f"{folder}: {layers} layers of {shape}, seed {seed}", markup=False)


@cache_app.callback(invoke_without_command=True)
def cache(context: typer.Context) -> None:
    """The converted weights that are kept on disk; listed, unless told otherwise."""
    if context.invoked_subcommand is None:
        list_cache()


@cache_app.command("list")
def list_cache() -> None:
    """What is kept, the last used first."""
    kept = weight_cache()
    table = Table(title=str(kept.folder), title_justify="left")
    for column in ("tensor", "MB", "last used", "key"):
        table.add_column(column, justify="right" if column == "MB" else "left")
    entries = kept.entries()
    for e in entries:
        used = datetime.fromtimestamp(e.used).strftime("%Y-%m-%d %H:%M")
        table.add_row(e.what, f"{e.size / 1e6:.1f}", used, e.key[:12])
    total = sum(e.size for e in entries) / 1e9
    unfinished = len(kept.unfinished())
    note = f", {unfinished} unfinished" if unfinished else ""
    report.make_console().print(
        table, f"{len(entries)} tensors, {total:.2f} GB of at most {kept.limit / 1e9:.1f}{note}", sep="\n"
    )


@cache_app.command("clear")
def clear_cache() -> None:
    """Remove all of it."""
    freed = weight_cache().clear()
    report.make_console().print(f"{freed / 1e9:.2f} GB given back")


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.command()(step)
    app.command()(sample)
    app.command("make-checkpoint")(make)
    app.add_typer(cache_app, name="cache")
