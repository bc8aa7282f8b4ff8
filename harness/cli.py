"""The command line. Exit codes: 0 pass, 1 fail, 2 bad usage."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from harness import calibration as calibration_module
from harness import comparison_report, history_commands, program_report, record, registry, report, starter
from harness import doctor as doctor_module
from harness import explain as explain_module
from harness import html as html_report
from harness import ops_csv as ops_csv_module
from harness.bench import Bench
from harness.breakdown import Breakdown, from_calls, run_breakdown
from harness.case import Case, Inputs
from harness.check import Progress as Report
from harness.check import describe, run_check
from harness.compare import run_compare
from harness.costs import Chip, parse_chip
from harness.distributions import DISTRIBUTIONS
from harness.errors import UsageError
from harness.expert import commands as expert_commands
from harness.files import write_json, write_text
from harness.history_commands import ResultsFolder, keep, results_folder
from harness.options import Cache, ChipName, Json, MaxSeq, RopeDelta, Seed, SeqLen, Shape, TargetName, Weights, takes
from harness.shape import parse_shape
from harness.targets import Target, open_target
from harness.timeline import trace
from harness.timing import TRACE_REGION

app = typer.Typer(
    help="Judge and time implementations of one decoder layer on Tenstorrent Blackhole.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
# typer brings its own copy of click in some releases; this is the base of its errors in all of them.
ClickError: type[Exception] = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")
MOST_SCHEDULES = 10_000
Impl = Annotated[str, typer.Argument(metavar="IMPL", help="An implementation, as op_graph:attn=standard.")]
Layer = Annotated[int, typer.Option(help="Which layer; its weights and inputs are its own.")]
InputsName = Annotated[str, typer.Option("--inputs", help=f"{', '.join(DISTRIBUTIONS)}.")]
CalibrationFile = Annotated[
    Path | None,
    typer.Option(
        "--calibration", metavar="FILE", help="Predict with FILE's constants, by layerbench calibrate; emulator."
    ),
]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Also write a page for a browser to FILE.")]
L1 = Annotated[
    bool, typer.Option("--l1", help="Also what programs of kernels hold of the L1 of their cores; emulator.")
]
TimelineFile = Annotated[
    Path | None,
    typer.Option("--timeline", metavar="FILE", help="Write predicted times as a trace for Perfetto to FILE; emulator."),
]


def case_options(
    shape: Shape = "alpamayo2_super",
    layer: Layer = 0,
    seq_len: SeqLen = 4700,
    max_seq: MaxSeq = 8192,
    rope_delta: RopeDelta = 0,
    weights: Weights = "bfp8",
    cache: Cache = "bf16",
    seed: Seed = 0,
    inputs: InputsName = "normal",
) -> Case:
    """The case that a command's common options describe."""
    return Case(parse_shape(shape), layer, seq_len, max_seq, rope_delta, weights, cache, seed, inputs)


with_case = takes("case", case_options)


@contextmanager
def _progress(stages: int) -> Iterator[Report]:
    """A bar over the stages of long work, on a terminal's stderr, gone when it ends."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    console = report.make_console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=stages)
        seen: set[str] = set()

        def show(stage: str, detail: str) -> None:
            advance = int(bool(seen) and stage not in seen)
            seen.add(stage)
            bar.update(task, description=f"{stage}: {detail}" if detail else stage, advance=advance)

        yield show


def _chip(name: str, calibration: Path | None) -> Chip:
    """The chip to predict."""
    chip = parse_chip(name)
    return calibration_module.read(calibration, chip) if calibration else chip


def _check_timeline(path: Path | None, target: str) -> None:
    record.check_path(path, "--timeline")
    if path and target != "emulator":
        raise UsageError(f"--timeline is of the emulator's virtual time; the {target} has none")


@app.command("list")
def list_command() -> None:
    """The implementations and their options."""
    table = Table()
    table.add_column("implementation")
    table.add_column("options (default)")
    table.add_column("what it is")
    for name in registry.names():
        try:
            cls = registry.load(name)
        except UsageError as error:
            table.add_row(name, "", f"broken: {error}")
            continue
        module_doc = sys.modules[cls.__module__].__doc__ or ""
        table.add_row(name, "\n".join(registry.describe_options(cls)), module_doc.strip().split("\n")[0])
    report.make_console().print(table)


@app.command()
@with_case
def check(
    implementation: Impl,
    case: Case,
    target: TargetName = "emulator",
    schedule_seed: Annotated[int, typer.Option(help="Order of threads and transfers in the second run; emulator.")] = 1,
    schedules: Annotated[int, typer.Option(help="Run again under so many orders, from that seed on; emulator.")] = 1,
    html: Html = None,
    json: Json = None,
    folder: ResultsFolder = None,
) -> None:
    """Is it right? Judges one layer against the torch oracle."""
    if not (1 <= schedules <= MOST_SCHEDULES and 0 <= schedule_seed < 2**32):
        raise UsageError(f"schedules must lie in 1..{MOST_SCHEDULES}, and schedule-seed in 0..{2**32 - 1}")
    if target != "emulator" and (schedules, schedule_seed) != (1, 1):
        raise UsageError(f"the {target} has one schedule, its own; --schedules and --schedule-seed are the emulator's")
    record.check_path(json)
    record.check_path(html, "--html")
    spec = registry.parse(implementation)
    records = results_folder(folder)
    with open_target(target) as opened:
        with _progress(5) as progress:
            seeds = range(schedule_seed, schedule_seed + schedules)
            result = run_check(opened, spec, Inputs.random(case), progress, seeds, timeline=html is not None)
        report.make_console().print(opened.opened, report.render_check(result), sep="\n")
        lines = from_calls(result.implementation, opened, case, result.calls, result.counts)
        if html:
            write_text(html, html_report.check_page(result, lines, opened.opened))
        keep(record.make("check", opened, record.check_result_dict(result, lines)), json, records)
        opened.exit_code = 0 if result.passed else 1
    raise typer.Exit(opened.exit_code)


@app.command()
@with_case
def compare(
    implementations: Annotated[list[str], typer.Argument(metavar="A B...", help="All are compared with A.")],
    case: Case,
    target: TargetName = "emulator",
    chip: ChipName = "p150",
    calibration: CalibrationFile = None,
    fail_on: Annotated[
        str | None, typer.Option(metavar="slow", help="Exit with 1 if one is slower than A, or has no time.")
    ] = None,
    timeline: TimelineFile = None,
    html: Html = None,
    json: Json = None,
    folder: ResultsFolder = None,
) -> None:
    """Which is faster? Judges all on the same inputs, then shows their times side by side."""
    record.check_path(json)
    record.check_path(html, "--html")
    _check_timeline(timeline, target)
    if len(implementations) < 2:
        raise UsageError("compare takes two implementations or more, the first being what the others are compared with")
    if fail_on not in (None, "slow"):
        raise UsageError(f"fail-on is {fail_on!r}; it must be slow")
    if fail_on and target == "simulator":
        raise UsageError("a functional simulator has no clock; --fail-on slow takes the emulator or the device")
    specs = [registry.parse(text) for text in implementations]
    records = results_folder(folder)
    trace_region = TRACE_REGION if target == "device" else 0
    with open_target(target, trace_region, chip=_chip(chip, calibration)) as opened:
        with _progress(5 * len(specs)) as progress:
            timelines = timeline is not None or html is not None
            result = run_compare(opened, specs, Inputs.random(case), progress, timelines)
        report.make_console().print(opened.opened, comparison_report.render(result), sep="\n")
        if timeline:
            write_json(timeline, trace([e.breakdown for e in result.entries]))
        if html:
            write_text(html, html_report.comparison_page(result, opened.opened))
        keep(record.make("compare", opened, record.comparison_dict(result)), json, records)
        opened.exit_code = 0 if result.passed and not (fail_on and result.slow) else 1
    raise typer.Exit(opened.exit_code)


def _broken_down(target: Target, spec: registry.Spec, case: Case, timeline: bool) -> Breakdown:
    """The layer's ops; where the implementation fails, says so and exits with 1."""
    try:
        with _progress(1) as progress:
            return run_breakdown(target, spec, Inputs.random(case), progress, timeline)
    except UsageError:
        raise
    except (Exception, SystemExit) as error:
        report.make_console().print(f"FAIL {spec}: {describe(error)}", markup=False)
        raise typer.Exit(1) from None


@app.command()
@with_case
def breakdown(
    implementation: Impl,
    case: Case,
    target: TargetName = "emulator",
    chip: ChipName = "p150",
    calibration: CalibrationFile = None,
    l1: L1 = False,
    timeline: TimelineFile = None,
    ops_csv: Annotated[
        Path | None,
        typer.Option("--ops-csv", metavar="FILE", help="Write the ops as a CSV that tt-perf-report reads to FILE."),
    ] = None,
    json: Json = None,
) -> None:
    """Where does the time go? A line per op of one layer."""
    record.check_path(json)
    record.check_path(ops_csv, "--ops-csv")
    _check_timeline(timeline, target)
    if ops_csv and target == "simulator":
        raise UsageError("a functional simulator has no times; --ops-csv takes the emulator or the device")
    if l1 and target != "emulator":
        raise UsageError(f"--l1 shows where the emulator places buffers; the {target} does not tell")
    spec = registry.parse(implementation)
    trace_region = TRACE_REGION if target == "device" else 0
    with open_target(target, trace_region, chip=_chip(chip, calibration)) as opened:
        result = _broken_down(opened, spec, case, timeline is not None)
        tables = [report.render_breakdown(result), *([program_report.l1(result)] if l1 else [])]
        report.make_console().print(opened.opened, *tables, sep="\n")
        if timeline:
            write_json(timeline, trace([result]))
        if ops_csv:
            write_text(ops_csv, ops_csv_module.text(result))
        if json:
            record.write(json, "breakdown", opened, record.breakdown_dict(result))
        opened.exit_code = 0


@app.command()
@with_case
def plan(implementation: Impl, case: Case, chip: ChipName = "p150") -> None:
    """How is the layer mapped? Cores, shares and L1 as an implementation plans them; nothing runs."""
    spec = registry.parse(implementation)
    with open_target("emulator", chip=_chip(chip, None)) as opened:
        lines = Bench.plan(opened, spec, case)
        if not lines:
            raise UsageError(f"{implementation} has no plan to show: its ops choose their cores themselves")
        report.make_console().print(opened.opened, *lines, sep="\n", markup=False)
        opened.exit_code = 0


@app.command()
@with_case
def explain(
    implementation: Impl,
    case: Case,
    chip: ChipName = "p150",
    calibration: CalibrationFile = None,
    json: Json = None,
) -> None:
    """Why does it take so long? What binds each op, and where the threads of its kernels wait; predicted."""
    record.check_path(json)
    spec = registry.parse(implementation)
    with open_target("emulator", chip=_chip(chip, calibration)) as opened:
        result = _broken_down(opened, spec, case, timeline=True)
        ops = explain_module.explain(result)
        report.make_console().print(opened.opened, program_report.explanation(result, ops), sep="\n")
        if json:
            record.write(json, "explain", opened, record.explanation_dict(result, ops))


@app.command()
def calibrate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write the calibration.")],
    target: TargetName = "device",
    chip: ChipName = "p150",
    calibration: CalibrationFile = None,
) -> None:
    """How fast is this card? Times small kernels and the op graph's ops, and fits the constants of the predictions."""
    record.check_path(file, "FILE")
    calibration_module.check_target(target)
    case = Case()
    with open_target(target, TRACE_REGION if target == "device" else 0, chip=_chip(chip, calibration)) as opened:
        with _progress(3) as progress:
            result = calibration_module.run_calibration(opened, parse_chip(chip), case, progress)
        report.make_console().print(opened.opened, calibration_module.render(result), sep="\n")
        calibration_module.write(file, result, opened)
        opened.exit_code = 0


@app.command()
def new(name: Annotated[str, typer.Argument(metavar="NAME", help="Of the implementation, as my_add.")]) -> None:
    """A first kernel, ready to edit: writes kernels/NAME/ and layer_impls/NAME.py, which run as they are."""
    kernel, implementation = starter.write(name)
    print(
        f"wrote {kernel}{os.sep} and {implementation}; next: layerbench check {name} --shape tiny -S 40 --max-seq 128"
    )


@app.command()
def doctor() -> None:
    """What is here for each target, and what to do about what is not."""
    table = Table()
    for column in ("", "found", "needed for", "what to do"):
        table.add_column(column)
    findings = doctor_module.examine()
    for f in findings:
        table.add_row(f.name, f.text, f.needed_for, "" if f.found else f.advice)
    report.make_console().print(table)
    raise typer.Exit(0 if all(f.found for f in findings if f.needed_for == "all") else 1)


history_commands.register(app)
expert_commands.register(app)


def main() -> None:
    """Entry point: errors that a user can act on take one line."""
    if len(sys.argv) == 1:
        sys.argv.append("--help")
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except UsageError as error:
        code = _complain(str(error))
    except ClickError as error:
        code = _complain(error.format_message())  # type: ignore[attr-defined]
    except (typer.Abort, KeyboardInterrupt):
        code = 130
    except OSError as error:
        code = _complain(f"cannot write the report: {error.strerror}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left unwritten, nobody can take
    sys.exit(code if isinstance(code, int) else 0)


def _complain(message: str) -> int:
    print(f"layerbench: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()
