"""What commands do with the folder of records; and `history` and `diff`, which read it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from harness import history, report, results
from harness.errors import UsageError
from harness.files import write_json

ResultsFolder = Annotated[
    Path | None,
    typer.Option(
        "--results", metavar="DIR", envvar=results.VARIABLE, help=f"The folder of records; {results.FOLDER} by default."
    ),
]
Name = Annotated[str, typer.Argument(metavar="IMPL", help="An implementation; with options, if only these.")]
First = Annotated[str, typer.Argument(metavar="REC1", help="A record: a part of its name, or a path.")]
Second = Annotated[str, typer.Argument(metavar="REC2", help="Another one.")]
LONG = {"pcc": ".6f", "relative_l2": ".5f", "max_abs": ".4f"}


def results_folder(folder: Path | None) -> Path | None:
    """The folder of records. That there is none to write to stops only who named it."""
    try:
        return results.prepare(folder)
    except UsageError as error:
        if folder:
            raise
        print(f"layerbench: no record of this: {error}", file=sys.stderr)
        return None


def keep(made: dict[str, Any], json: Path | None, folder: Path | None) -> None:
    """Write a record where it was asked for, and among the others."""
    if json:
        write_json(json, made, indent=2)
    if folder:
        report.make_console().print(f"record: {results.append(folder, made).stem}", style="dim")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("history")(history_command)
    app.command("diff")(diff_command)


def history_command(implementation: Name, folder: ResultsFolder = None) -> None:
    """How did it come along? Every check and compare of an implementation, oldest first."""
    rows, unread = history.of_implementation(folder or results.FOLDER, implementation)
    table = Table(title=f"history of {implementation}", title_justify="left")
    for column in ("record", "git", "target", "implementation", "case", "check", "us", "PCC", "max abs"):
        justify = "right" if column in ("us", "PCC", "max abs") else "left"
        table.add_column(column, justify=justify, overflow="fold", no_wrap=column == "record")  # type: ignore[arg-type]
    for r in rows:
        table.add_row(
            r.record,
            r.git,
            r.target,
            f"{r.implementation}\n{r.verdict}" if r.verdict else r.implementation,
            r.case,
            report.mark(r.passed),
            "-" if r.us is None else f"{r.us:.1f}\n{r.origin}",
            "-" if r.pcc is None else f"{r.pcc:.6f}",
            "-" if r.max_abs is None else f"{r.max_abs:.4f}",
        )
    console = report.make_console()
    console.print(table)
    for line in unread:
        console.print(f"left out: {line}", markup=False)


def diff_command(first: First, second: Second, folder: ResultsFolder = None) -> None:
    """What changed? Environment, case, verdicts, us and accuracy that differ between two records."""
    where = folder or results.FOLDER
    paths = [results.find(where, name) for name in (first, second)]
    found = history.changes(*map(results.read, paths))
    console = report.make_console()
    if not found:
        console.print("nothing differs: environment, case, verdicts, us and accuracy are the same")
        return
    table = Table()
    for column in ("what", *(path.stem for path in paths), "change"):
        table.add_column(column, justify="left" if column == "what" else "right", overflow="fold")
    for c in found:
        share = f"{c.share:+.1%}" if c.share is not None and c.what.endswith("us") else ""
        table.add_row(c.what, _text(c.what, c.before), _text(c.what, c.after), share)
    console.print(table)


def _text(what: str, value: history.Value) -> str:
    if not isinstance(value, float):
        return "-" if value is None else str(value)
    return format(value, LONG.get(what.rpartition(" ")[2], ".2f"))
