"""What the commands print: tables for people, with the origin next to every time."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from harness import costs, program_report, published
from harness.breakdown import Breakdown, OpLine
from harness.check import CheckResult
from harness.program_report import us
from harness.verdict import Part

# Wide enough for the tables where the output is a file or a pipe.
PLAIN_WIDTH = 140
PREDICTED = "predicted us"
TENSOR_LEFT = ("tensor", "verdict")
TIMES = "x: times the op graph's own error on these inputs, by its model"


def make_console(stderr: bool = False) -> Console:
    """A console that does not fold tables when nobody looks at it."""
    console = Console(stderr=stderr, highlight=False)
    return console if console.is_terminal else Console(stderr=stderr, highlight=False, width=PLAIN_WIDTH)


def mark(passed: bool) -> Text:
    """PASS or FAIL, in colour where there is colour."""
    return Text("PASS", style="bold green") if passed else Text("FAIL", style="bold red")


def render_check(result: CheckResult) -> RenderableType:
    """A line for each tensor, for each other part of the first call, and for each later call; then what failed."""
    title = f"check {result.implementation}: {result.case}"
    parts: list[RenderableType] = []
    tensors = [p for p in result.parts if p.aspects and not p.call]
    if tensors:
        parts.append(_tensors(tensors, title))
    table = Table(title=None if tensors else title, title_justify="left")
    for column in ("part", "verdict", "what was found"):
        table.add_column(column)
    for part in result.parts:
        if not part.call and part not in tensors:
            table.add_row(part.name, mark(part.passed), part.text if part.passed else "see below")
    for call in dict.fromkeys(p.call for p in result.parts if p.call):
        later = [p for p in result.parts if p.call == call]
        table.add_row(call, mark(all(p.passed for p in later)), _nearest(later))
    parts.append(table)
    for part in result.parts:
        if not part.passed:
            parts.append(Text(f"{part.title}: {part.failure}", style="red"))
    summary = Text.assemble(
        mark(result.passed),
        f" {result.implementation} on the {result.target}: {len(result.calls)} ops, "
        f"{result.host_s:.2f} s of the host for one layer (no device time)",
    )
    return Group(*parts, summary)


def _tensors(tensors: list[Part], title: str) -> Table:
    """The figures, some of them beside the op graph's own error."""
    table = Table(title=f"{title}\n{TIMES}", title_justify="left")
    headers, rows = tensor_table(tensors)
    for name in headers:
        table.add_column(name, justify="left" if name in TENSOR_LEFT else "right")
    for row in rows:
        table.add_row(*row)
    return table


def tensor_table(tensors: Sequence[Part]) -> tuple[list[str], list[list[str | Text]]]:
    """Headers, and a row a tensor with one line of figures for each; the shares, which only the update has, in one."""
    single = ("PCC", "relative L2", "offset", "max abs", "ulp", "worst token", "worst tile")
    headers = [*TENSOR_LEFT, "PCC", "relative L2", "best-fit scale", *single[2:-1], "worst channel / head", single[-1]]
    rows: list[list[str | Text]] = []
    for part in tensors:
        short = {a.name: a.short for a in part.aspects}
        scales = [f"{n.removeprefix('scale of ')} {t}" if n != "scale" else t for n, t in short.items() if "scale" in n]
        cells = [short.get(name, "") for name in single]
        slices = short.get("worst channel", "") or short.get("worst head", "")
        rows.append([part.name, mark(part.passed), *cells[:2], "\n".join(scales), *cells[2:-1], slices, cells[-1]])
    return headers, rows


def _nearest(parts: list[Part]) -> str:
    """How many parts there were, and the figure nearest to its limit."""
    ratios = [(a.ratio, f"{p.name}, {a.name} {a.text}") for p in parts for a in p.aspects if a.ratio is not None]
    nearest = f"; nearest to its limit: {max(ratios)[1]}" if ratios else ""
    return f"{len(parts)} parts{nearest}"


def render_breakdown(b: Breakdown) -> RenderableType:
    """A line per op."""
    table = Table(title=f"breakdown {b.implementation}", title_justify="left", show_footer=True)
    table.add_column("#", justify="right")
    table.add_column("op", footer="sum of the ops")
    table.add_column("ttnn call")
    table.add_column("in")
    table.add_column("out")
    table.add_column(time_name(b), justify="right", footer=us(b.total_us))
    predicts = b.target == "emulator"
    if predicts:
        table.add_column(PREDICTED, justify="right", footer=us(b.predicted_us))
        table.add_column("binds")
        table.add_column("GB/s", justify="right")
    table.add_column("host s", justify="right", footer=f"{sum(line.call.host_s for line in b.lines):.2f}")
    for n, line in enumerate(b.lines, 1):
        call = line.call
        table.add_row(
            str(n),
            line.label,
            call.name,
            ", ".join(map(str, call.inputs)),
            ", ".join(map(str, call.outputs)),
            us(line.us),
            *(prediction(line) if predicts else ()),
            f"{call.host_s:.3f}",
        )
    parts: list[RenderableType] = [table, *origins([b], b.origin, "no time for this target, shape and config")]
    if any(line.counts for line in b.lines):
        parts += [program_report.rates([b]), program_report.counts(b)]
    return Group(*parts)


def time_name(b: Breakdown) -> str:
    return "published us" if b.target == "emulator" else "device us"


def prediction(line: OpLine) -> tuple[str, str, str]:
    """Predicted us, the resource that binds, achieved GB/s."""
    p = line.predicted
    return (us(p.us), p.binds, f"{p.gb_s:.0f}") if p else ("-", "-", "-")


def origins(breakdowns: list[Breakdown], origin: str | None, why: str) -> list[Text]:
    """Where each kind of time comes from, what a dash means, and the DRAM floor."""
    first = breakdowns[0]
    name = time_name(first)
    note = f" (op_graph back to back: {published.LAYER_US:.0f} us)" if origin == published.ORIGIN else ""
    lines = [f"{name}: {origin}{note}" if origin else f"{name}: none ({why})"]
    if origin and why:
        lines.append(f"-: {why}")
    if any(line.predicted for b in breakdowns for line in b.lines):
        lines.append(f"{PREDICTED} (ttnn 0.81.1): {costs.ORIGIN}; {first.chip.calibration}; docs/cost-model.md")
    if any(line.counts for b in breakdowns for line in b.lines):
        used = f"{first.chip.calibration}; " if first.chip.machine else ""
        lines.append(
            f"{PREDICTED} (programs of kernels): the emulator's virtual time, not measured; {used}docs/emulator.md"
        )
    if first.target == "emulator" and any(line.predicted is None for b in breakdowns for line in b.lines):
        lines.append(f"{PREDICTED} -: no cost model")
    lines.append(_floor(breakdowns))
    lines.append("host s: this machine")
    return [Text(line, style="dim") for line in lines]


def _floor(breakdowns: list[Breakdown]) -> str:
    """The DRAM floor of the layer, and its share of the predicted time, of one implementation."""
    case, chip = breakdowns[0].case, breakdowns[0].chip
    floor_us = costs.floor_us(case, chip)
    floor = (
        f"DRAM floor: {floor_us:.1f} us for the layer's {costs.floor_bytes(case) / 1e6:.1f} MB "
        f"at {chip.dram_best:.0f} GB/s"
    )
    first = breakdowns[0]
    if len(breakdowns) > 1 or not first.predicted_us:
        return floor
    return f"{floor}; {floor_us / first.predicted_us:.0%} of {first.implementation} (predicted)"
