"""The table of `compare`: implementations beside each other, then their ops."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from harness import costs, paired, program_report, published
from harness.breakdown import Breakdown, OpLine
from harness.compare import Comparison, Entry, Timing
from harness.program_report import us
from harness.report import PREDICTED, mark, origins, prediction, time_name

LAYER_OPS = 19  # of the op graph
STYLES = {paired.FAST: "bold green", paired.SLOW: "bold red", paired.SAME: "", paired.AMBG: "yellow"}
Cell = str | Text


def render(c: Comparison) -> RenderableType:
    """The verdicts beside each other, why they are so, and the ops beside each other."""
    parts: list[RenderableType] = [_table(c), *(Text(line) for line in _reasons(c))]
    for entry in c.entries:
        for part in (*entry.check.parts, *entry.after):
            if not part.passed:
                parts.append(Text(f"{entry.check.implementation}: {part.title}: {part.failure}", style="red"))
    right = [e.breakdown for e in c.entries if e.passed]
    parts += _legend(c, right)
    if any(line.counts for b in right for line in b.lines):
        parts.append(program_report.rates(right))
    if right and right[0].target == "emulator":
        parts.append(_side_by_side(right))
    return Group(*parts)


def _table(c: Comparison) -> Table:
    """A row an implementation; a column that says nothing here is left out."""
    columns: dict[str, Callable[[Entry], Cell]] = {
        "implementation": lambda e: e.check.implementation,
        "check": lambda e: mark(e.passed),
        "verdict": lambda e: _verdict(e.timing),
        "launches": _launches,
        **({PREDICTED: _us} if _predicts(c) else {"device us": _us, "p5-p95": lambda e: _spread(e.timing)}),
        "difference": lambda e: _difference(c, e.timing),
        "GB/s\n% of floor": _rate,
        "published us": lambda e: us(e.breakdown.total_us if e.passed else None),
        "PCC\nof update": lambda e: f"{_figure(e, 'output', 'pcc', '.6f')}\n{_figure(e, 'update', 'pcc', '.6f')}",
        "max abs": lambda e: _figure(e, "output", "max_abs", ".4f"),
        "n": lambda e: str(e.timing.spread.n) if e.timing and e.timing.spread else "-",
        "host s": lambda e: f"{e.check.host_s:.2f}",
    }
    left = ("implementation", "check", "verdict", "launches")
    shown = {name: [cell(e) for e in c.entries] for name, cell in columns.items()}
    shown = {name: cells for name, cells in shown.items() if name in left or any(str(cell) != "-" for cell in cells)}
    table = Table(title=f"compare: {c.entries[0].check.case}", title_justify="left", show_lines=True)
    for name in shown:
        header = name if "\n" in name else name.replace(" ", "\n", 1)
        table.add_column(header, justify="left" if name in left else "right", overflow="fold")
    rows = list(zip(*shown.values(), strict=True))
    table.add_row(*rows[0])
    if c.again:
        again = {
            "implementation": f"{c.entries[0].check.implementation} again",
            "verdict": _verdict(c.again),
            "device us": us(c.again.us),
            "p5-p95": _spread(c.again),
            "difference": _difference(c, c.again),
        }
        table.add_row(*(again.get(name, "") for name in shown))
    for row in rows[1:]:
        table.add_row(*row)
    return table


def _predicts(c: Comparison) -> bool:
    return c.entries[0].check.target != "device"


def _verdict(timing: Timing | None) -> Cell:
    found = timing.finding if timing else None
    return Text(found.verdict, style=STYLES[found.verdict]) if found else "-"


def _launches(e: Entry) -> str:
    """Ops and programs; and how many ops of the op graph the programs stand for."""
    programs = sum(call.name == "generic_op" for call in e.check.calls)
    ops = LAYER_OPS - (len(e.check.calls) - programs)
    return f"{len(e.check.calls)}\n{programs} for {ops} ops" if programs else str(len(e.check.calls))


def _us(e: Entry) -> str:
    return us(e.timing.us if e.timing else None)


def _spread(timing: Timing | None) -> str:
    return f"{timing.spread.p5:.1f}-{timing.spread.p95:.1f}" if timing and timing.spread else "-"


def _difference(c: Comparison, timing: Timing | None) -> str:
    """To the first: us and its share, with the interval where there is one."""
    first = c.entries[0].timing
    if timing is None or first is None or timing is first:
        return "-"
    if d := timing.difference:
        return f"{d.share * first.us:+.1f} ({d.share:+.1%})\n{100 * d.low:+.1f}..{d.high:+.1%}"
    return f"{timing.us - first.us:+.1f}\n{timing.us / first.us - 1:+.1%}"


def _rate(e: Entry) -> str:
    """What the layer needs, each byte once, over its time."""
    if e.timing is None:
        return "-"
    case, chip = e.check.case, e.breakdown.chip
    return f"{costs.floor_bytes(case) / e.timing.us / 1e3:.0f}\n{costs.floor_us(case, chip) / e.timing.us:.0%}"


def _figure(e: Entry, part: str, name: str, form: str) -> str:
    found = e.check.part(part)
    return format(found.numbers[name], form) if found else "-"


def _reasons(c: Comparison) -> list[str]:
    """Why each verdict is what it is."""
    lines = []
    predicted = " (predicted)" if _predicts(c) else ""
    for entry in c.entries:
        name, timing = entry.check.implementation, entry.timing
        if timing and timing.finding:
            lines.append(f"{name}: {timing.finding.verdict}{predicted}: {timing.finding.reason}")
        elif not timing:
            lines.append(f"{name}: no time: {entry.why}")
    if c.again and c.again.finding:
        f = c.again.finding
        lines.append(f"{c.entries[0].check.implementation} again, what is noise: {f.verdict}: {f.reason}")
    return lines


def _legend(c: Comparison, right: list[Breakdown]) -> list[Text]:
    """Where the times come from."""
    first = c.entries[0].breakdown
    if not right:
        return []
    if _predicts(c):
        why = "" if all(b.total_us is not None for b in right) else published.WHY_NONE
        known = published.ORIGIN if any(b.total_us is not None for b in right) else None
        if first.target == "simulator":
            why = "a functional simulator has no clock"
        lines = origins(right, known, why)
    else:
        rounds = "the median of n rounds, each round one sample of all in a random order, then in the reverse of it"
        clock = f"; clock {c.clock_mhz} MHz" if c.clock_mhz else ""
        lines = [
            Text(f"device us: {c.origin}{clock}; {rounds}", style="dim"),
            Text(f"difference: the median over the rounds, and its {paired.CONFIDENCE} % interval", style="dim"),
            *origins(right, None, "")[1:],
        ]
    # The last is about the host.
    return [*lines[:-1], Text(f"host s: this machine, for one layer; all of it took {c.host_s:.0f} s", style="dim")]


def _side_by_side(breakdowns: list[Breakdown]) -> Table:
    """Ops in the order of the first; what only another has comes after. Of three and more, the predicted time alone."""
    few = len(breakdowns) < 3
    title = "op by op" if few else f"op by op: {PREDICTED}"
    table = Table(title=title, title_justify="left", show_footer=True)
    table.add_column("op", footer="sum of the ops", no_wrap=True)
    for b in breakdowns:
        if few:
            table.add_column(f"{b.implementation}\n{time_name(b)}", justify="right", footer=us(b.total_us))
        name = f"\n{PREDICTED}" if few else b.implementation
        table.add_column(name, justify="right", footer=us(b.predicted_us), overflow="fold")
        if few:
            table.add_column("\nbinds", footer="")
    columns = [_by_label(b) for b in breakdowns]
    labels = list(dict.fromkeys(label for column in columns for label in column))
    for label in labels:
        cells: list[str] = []
        for column in columns:
            line = column.get(label)
            predicted, binds, _ = prediction(line) if line else ("", "", "")
            cells += [us(line.us) if line else "", predicted, binds] if few else [predicted]
        table.add_row(label, *cells)
    return table


def _by_label(b: Breakdown) -> dict[str, OpLine]:
    """Label -> line; a label that comes again gets its number."""
    result: dict[str, OpLine] = {}
    for line in b.lines:
        label, n = line.label, 2
        while label in result:
            label, n = f"{line.label} ({n})", n + 1
        result[label] = line
    return result
