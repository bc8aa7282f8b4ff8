"""What ``layerbench calibrate`` prints: the constants, and predictions beside what was timed."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table

from harness.calibration.run import Calibration, Side


def render(c: Calibration) -> RenderableType:
    """Both models' tables."""
    return Group(
        _constants("virtual time of the emulator", c.machine),
        _times("twins", c.machine, c.origin),
        _constants("cost model of ttnn's ops", c.costs),
        _times("ops", c.costs, c.origin),
    )


def _constants(what: str, s: Side) -> Table:
    kept = [name for name in s.fit.values if name not in s.fit.fitted]
    title = f"{what}: {len(s.fit.fitted)} constants fitted; kept, for these times do not tell them: {', '.join(kept)}"
    table = Table(title=title, title_justify="left")
    for column in ("constant", "published", "fitted", "unit"):
        table.add_column(column, justify="right" if column in ("published", "fitted") else "left")
    for name in s.fit.fitted:
        table.add_row(name, f"{s.published[name]:.4g}", f"{s.fit.values[name]:.4g}", s.units[name])
    return table


def _times(what: str, s: Side, origin: str) -> Table:
    table = Table(title=f"{what}, us {origin}", title_justify="left")
    for column in (what, "timed", "predicted before", "error", "after", "error"):
        table.add_column(column, justify="left" if column == what else "right")
    for (name, us), before, after in zip(s.measured.items(), s.fit.before, s.fit.after, strict=True):
        table.add_row(name, f"{us:.1f}", *(t for p in (before, after) for t in (f"{p:.1f}", f"{p / us - 1:+.1%}")))
    return table
