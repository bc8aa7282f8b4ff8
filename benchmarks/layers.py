"""Predicted us of a layer, by implementation, cache, rows and grid: the table of docs/fused.md.

``python -m benchmarks.layers`` runs each layer once on the emulator, two minutes in all. None is measured on silicon.
"""

from __future__ import annotations

from itertools import product

from harness.breakdown import Breakdown, run_breakdown
from harness.case import Case, Inputs
from harness.costs import floor_us
from harness.registry import parse
from harness.targets import open_target

IMPLEMENTATIONS = ("op_graph", "partly_fused", "fused_blocks", "fused_layer")
GRIDS, CACHES, ROWS = ((11, 10), (13, 10)), ("bf16", "bfp8"), (4700, 1024)
HEAD = (
    "| grid | cache | S | "
    + " | ".join(IMPLEMENTATIONS)
    + " | programs of fused_blocks, and what binds each | floor | of it |\n"
)


def layer(grid: tuple[int, int], name: str, inputs: Inputs) -> Breakdown:
    """One layer on an emulated device of that grid."""
    with open_target("emulator", grid=grid) as target:
        return run_breakdown(target, parse(name), inputs)


def row(grid: tuple[int, int], cache: str, S: int) -> str:
    """A line of the table."""
    inputs = Inputs.random(Case(S=S, cache=cache))
    layers = [layer(grid, name, inputs) for name in IMPLEMENTATIONS]
    blocks = layers[IMPLEMENTATIONS.index("fused_blocks")]
    times = [b.predicted_us or 0 for b in layers]
    programs = ", ".join(f"{line.label} {line.predicted_us:.1f} ({line.predicted.binds})" for line in blocks.lines)
    floor = floor_us(inputs.case)
    cells = [f"{grid[0]}x{grid[1]}", cache, str(S), *(f"{us:.1f}" for us in times), programs, f"{floor:.1f}"]
    return "| " + " | ".join([*cells, f"{floor / times[-1]:.0%}"]) + " |\n"


def main() -> None:
    print(HEAD + "|---|---|--:|" + "--:|" * len(IMPLEMENTATIONS) + "---|--:|--:|")
    for grid, cache, S in product(GRIDS, CACHES, ROWS):
        print(row(grid, cache, S), end="", flush=True)


if __name__ == "__main__":
    main()
