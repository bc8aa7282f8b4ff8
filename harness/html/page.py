"""The pages: what the templates need, and the pages made of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from harness import comparison_report, report
from harness.breakdown import Breakdown
from harness.case import Case
from harness.check import CheckResult
from harness.compare import Comparison
from harness.html import bars, heat, l1, threads
from harness.report import PREDICTED, prediction, time_name, us
from harness.verdict import FIRST, Part

TEMPLATES = Environment(
    loader=PackageLoader("harness.html"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def comparison_page(c: Comparison, opened: str) -> str:
    """A comparison as one HTML page that needs nothing else. opened: what the target says of itself."""
    headers, rows = comparison_report.verdicts(c)
    right = [e.breakdown for e in c.entries if e.passed]
    return TEMPLATES.get_template("compare.html").render(
        comparison=c,
        headers=headers,
        groups={"": _cells(rows)},
        left=comparison_report.LEFT,
        reasons=comparison_report.reasons(c),
        legend=[str(line) for line in comparison_report.legend(c)],
        heats=heat.heats([e.check for e in c.entries]),
        **_sections(opened, c.entries[0].check.case, right, right),
    )


def check_page(r: CheckResult, b: Breakdown, opened: str) -> str:
    """The same of one check. What is wrong has no times, but an L1."""
    tensors, others = ([p for p in r.parts if bool(p.aspects) is of_tensor] for of_tensor in (True, False))
    calls = dict.fromkeys(p.call for p in r.parts)
    headers, rows = report.tensor_table(tensors)
    by_call = {call: [row for row, p in zip(_cells(rows), tensors, strict=True) if p.call == call] for call in calls}
    return TEMPLATES.get_template("check.html").render(
        check=r,
        failed=[p for p in r.parts if not p.passed],
        tensors=tensors,
        calls=[call or FIRST for call in calls],
        others=_by_name(others, list(calls)),
        headers=headers,
        groups={call or FIRST: rows for call, rows in by_call.items() if rows},
        left=report.TENSOR_LEFT,
        times=report.TIMES,
        heats=heat.heats([r], ("output", "K rows", "V rows")),
        **_sections(opened, r.case, [b] if r.passed else [], [b]),
    )


def _sections(opened: str, case: Case, timed: Sequence[Breakdown], placed: Sequence[Breakdown]) -> dict[str, Any]:
    """What both pages have: times and timelines of `timed`, L1 of `placed`."""
    return {
        "opened": opened,
        "case": case,
        "chart": bars.chart(timed),
        "room": bars.ROOM,
        "op_tables": [_ops(b) for b in timed],
        "l1": {b.implementation: l1.l1_bars(b) for b in placed if any(line.counts for line in b.lines)},
        "l1_kib": l1.L1_BYTES >> 10,
        "timelines": {b.implementation: drawn for b in timed if (drawn := threads.programs(b))},
        "does": threads.DOES,
        "columns": threads.COLUMNS,
    }


def _by_name(parts: Sequence[Part], calls: Sequence[str]) -> list[tuple[str, list[Part | None]]]:
    """Parts of one name with a cell for each call; those that are about all calls have one cell in all."""
    rows: list[tuple[str, list[Part | None]]] = []
    for name in dict.fromkeys(p.name for p in parts):
        by_call = {p.call: p for p in parts if p.name == name}
        rows.append((name, [by_call.get(call) for call in (calls if len(by_call) > 1 else by_call)]))
    return rows


def _cells(rows: Sequence[Sequence[object]]) -> list[list[str]]:
    return [[str(cell) for cell in row] for row in rows]


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
