"""The page: what the templates need, and the page made of it."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from harness import comparison_report
from harness.breakdown import Breakdown
from harness.compare import Comparison
from harness.html import bars, heat, l1, threads
from harness.report import PREDICTED, prediction, time_name, us

TEMPLATES = Environment(
    loader=PackageLoader("harness.html"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def page(c: Comparison, opened: str) -> str:
    """A comparison as one HTML page that needs nothing else. opened: what the target says of itself."""
    headers, rows = comparison_report.verdicts(c)
    right = [e.breakdown for e in c.entries if e.passed]
    return TEMPLATES.get_template("page.html").render(
        comparison=c,
        opened=opened,
        case=c.entries[0].check.case,
        headers=headers,
        rows=[[str(cell) for cell in row] for row in rows],
        left=comparison_report.LEFT,
        reasons=comparison_report.reasons(c),
        legend=[str(line) for line in comparison_report.legend(c)],
        chart=bars.chart(c),
        room=bars.ROOM,
        op_tables=[_ops(b) for b in right],
        heats=heat.heats(c),
        l1={b.implementation: l1.l1_bars(b) for b in right if any(line.counts for line in b.lines)},
        l1_kib=l1.L1_BYTES >> 10,
        timelines={b.implementation: drawn for b in right if (drawn := threads.programs(b))},
        does=threads.DOES,
        columns=threads.COLUMNS,
    )


def _ops(b: Breakdown) -> tuple[str, list[str], list[list[str]]]:
    """Name, headers and rows: all ops of a layer with their times."""
    predicts = b.target == "emulator"
    headers = ["#", "op", "ttnn call", "out", time_name(b), *([PREDICTED, "binds", "GB/s"] if predicts else [])]
    rows = [
        [
            str(n),
            line.label,
            line.call.name,
            ", ".join(map(str, line.call.outputs)),
            us(line.us),
            *(prediction(line) if predicts else ()),
        ]
        for n, line in enumerate(b.lines, 1)
    ]
    total = ["", "sum of the ops", "", "", us(b.total_us), *([us(b.predicted_us), "", ""] if predicts else [])]
    return b.implementation, headers, [*rows, total]
