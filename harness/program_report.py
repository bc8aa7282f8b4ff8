"""Tables about programs of kernels: what the emulator predicts for them, and what it counted."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from harness import breakdown
from harness.breakdown import Breakdown
from harness.emulator.programs import Prediction
from harness.explain import CAUSES, RUNNING, OpShare
from harness.targets.recorder import SHORT


def us(value: float | None) -> str:
    """Microseconds for a table."""
    return "-" if value is None else f"{value:.1f}"


def rates(breakdowns: Sequence[Breakdown]) -> RenderableType:
    """What each program of kernels takes, and how near it comes to what DRAM gives."""
    chip = breakdowns[0].chip
    title = (
        "programs of kernels; all predicted by the emulator's virtual time, not measured\n"
        f"% of DRAM: of the peak, {chip.dram_peak:.0f} GB/s; "
        f"floor: what the program moves, each byte once, at {chip.dram_best:.0f} GB/s"
    )
    table = Table(title=title, title_justify="left")
    for column in ("implementation", "#", "program"):
        table.add_column(column, justify="right" if column == "#" else "left")
    for column in ("predicted us", "launch", "binds", "GB/s", "% of DRAM", "floor us", "% of floor"):
        table.add_column(column, justify="left" if column == "binds" else "right")
    for b in breakdowns:
        for n, line in enumerate(b.lines, 1):
            if not (line.counts and line.predicted):
                continue
            r = breakdown.rates(line.counts, chip)
            table.add_row(
                b.implementation,
                str(n),
                line.label,
                us(line.predicted_us),
                us(r.launch_us),
                line.predicted.binds,
                f"{r.gb_s:.0f}",
                f"{r.dram_share:.0%}",
                us(r.floor_us),
                f"{r.floor_share:.0%}",
            )
    return table


def counts(b: Breakdown) -> RenderableType:
    """What each program of kernels did."""
    title = "what programs of kernels did, counted by the emulator"
    table = Table(title=title, title_justify="left")
    for column in (
        "#", "program", "cores", "DRAM reads", "DRAM writes", "L1 reads", "L1 writes",
        "multicasts", "atomics", "barriers rd/wr", "most reads in flight",
    ):  # fmt: skip
        table.add_column(column, justify="left" if column == "program" else "right")
    details: list[RenderableType] = []
    for n, line in enumerate(b.lines, 1):
        if line.counts is None:
            continue
        c = line.counts.total
        table.add_row(
            str(n),
            line.label,
            str(len(line.counts.cores)),
            _moved(c.dram_reads, c.dram_read_bytes),
            _moved(c.dram_writes, c.dram_write_bytes),
            _moved(c.l1_reads, c.l1_read_bytes),
            _moved(c.l1_writes, c.l1_write_bytes),
            _moved(c.multicasts, c.multicast_bytes),
            str(c.atomics),
            f"{c.read_barriers}/{c.write_barriers}",
            str(c.most_reads_in_flight),
        )
        tiles = ", ".join(f"{count} {kind}" for kind, count in sorted(c.tile_ops.items()))
        pages = ", ".join(f"{index}: {most}" for index, most in sorted(c.cb_high_water.items()) if most)
        details.append(Text(f"{n} {line.label}: {_waits(line.counts.predicted)}"))
        details.append(Text(f"{n} {line.label}: tile ops: {tiles or 'none'}"))
        details.append(Text(f"{n} {line.label}: most pages in a CB: {pages or 'none'}"))
    return Group(table, *details)


def _waits(p: Prediction) -> str:
    """Where the slowest core's threads wait."""
    waits = [
        f"{thread} {cycles / p.clock_mhz:.1f} for {why}"
        for thread, times in p.cores[p.slowest].items()
        for why, cycles in times.stalls.items()
        if cycles / p.clock_mhz >= 0.1
    ]
    return f"predicted us that threads of the slowest core, {p.slowest}, wait: {', '.join(waits) or 'none'}"


def _moved(number: int, n_bytes: int) -> str:
    return f"{number}\n{n_bytes} B" if number else "0"


def l1(b: Breakdown) -> RenderableType:
    """What each program of kernels holds of the L1 of its cores; cores that hold the same are one group."""
    table = Table(title="L1 of a core: circular buffers, semaphores, and what is free", title_justify="left")
    for column in ("#", "program", "cores", "CB", "format", "from", "bytes"):
        table.add_column(column, justify="left" if column in ("program", "cores", "format") else "right")
    for n, line in enumerate(b.lines, 1):
        for group in line.counts.l1 if line.counts else ():
            (x, y), many = group.cores[0], len(group.cores)
            rows = [
                (
                    ", ".join(map(str, cb.indices)),
                    ", ".join(SHORT.get(name, name.lower()) for name in cb.formats),
                    str(cb.address),
                    str(cb.bytes),
                )
                for cb in group.cbs
            ]
            taken = sum(cb.bytes for cb in group.cbs)
            rows.append((f"all {len(rows)}", f"and {len(group.semaphores)} semaphores", "", str(taken)))
            rows.append(("", "free", "", str(group.free)))
            where = f"({x},{y})" + (f" and {many - 1} alike" if many > 1 else "")
            for i, row in enumerate(rows):
                name = (str(n), line.label, where) if i == 0 else ("", "", "")
                table.add_row(*name, *row, end_section=i == len(rows) - 1)
    return table


def explanation(b: Breakdown, ops: Sequence[OpShare]) -> RenderableType:
    """The ops of a layer, slowest first, with what binds them; then the phases of each program."""
    table = Table(title=f"explain {b.implementation}: predicted, not measured on silicon", title_justify="left")
    for column in ("#", "op", "predicted us", "% of layer", "binds", "what that means, and what usually helps"):
        table.add_column(column, justify="right" if column in ("#", "predicted us", "% of layer") else "left")
    for op in ops:
        share = "-" if op.share is None else f"{op.share:.0%}"
        table.add_row(str(op.number), op.label, us(op.us), share, op.binds, op.meaning)
    return Group(table, *(_phases(op) for op in ops if op.phases))


def _phases(op: OpShare) -> RenderableType:
    title = f"{op.number} {op.label}: % of a thread's predicted time, on the core where a phase takes longest"
    table = Table(title=title, title_justify="left")
    columns = (RUNNING, *CAUSES)
    for column in ("phase", "core", "thread", "us", *columns):
        table.add_column(column, justify="left" if column in ("phase", "core", "thread") else "right")
    words: list[RenderableType] = []
    for phase in op.phases:
        for n, row in enumerate(phase.threads):
            shares = (f"{row.shares.get(c, 0.0):.0%}" if row.shares.get(c, 0.0) >= 0.005 else "" for c in columns)
            name, core = (phase.name, str(phase.core)) if n == 0 else ("", "")
            table.add_row(name, core, row.thread, us(row.us), *shares, end_section=n == len(phase.threads) - 1)
        where = f"; most at {phase.at}" if phase.at else ""
        words.append(Text(f"{phase.name}: {phase.meaning}{where}"))
    return Group(table, *words)
