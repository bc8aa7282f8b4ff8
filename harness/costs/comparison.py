"""The predictions beside every published time: the ops the constants were fitted to, and the rows held out.

`python -m harness.costs.comparison` prints the tables of docs/cost-model.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from harness import published
from harness.breakdown import run_breakdown
from harness.case import Case, Inputs
from harness.costs import predict_call
from harness.costs.chip import P150, Chip, constants
from harness.published import Labelled
from harness.registry import parse
from harness.targets import open_target

SPECS = ("op_graph", "op_graph:attn=standard", "op_graph:attn=standard,fold=true")
GRID = (11, 10)  # of the published times
LAYERS, STEP_US = 64, 32_500.0  # a step of all layers in one trace, published


@dataclass(frozen=True)
class Row:
    """What was timed: published us, and predicted us on the ttnn of that time and on 0.81.1."""

    name: str
    published: float
    older: float
    today: float
    binds: str


def _row(entry: Labelled, name: str, chip: Chip) -> Row:
    older, today = (predict_call(entry.call, GRID, chip, older) for older in (True, False))
    assert entry.us and older and today, f"{entry.label} has no published time or no cost model"
    return Row(name, entry.us, older.us, today.us, today.binds)


def layer(spec: str) -> list[Labelled]:
    """The labelled calls of an op graph at the published shape."""
    with open_target("emulator", grid=GRID) as target:
        lines = run_breakdown(target, parse(spec), Inputs.random(Case())).lines
    return published.label_calls([line.call for line in lines])


def reference_rows(reference: list[Labelled], chip: Chip = P150) -> list[Row]:
    """A row an op of the reference layer."""
    return [_row(entry, entry.label, chip) for entry in reference]


def with_cache(entry: Labelled, Smax: int, dtype: str) -> Labelled:
    """An attention call over a cache of Smax rows in `dtype`."""
    q, k, v, mask = entry.call.inputs
    k, v = (replace(t, shape=(*t.shape[:2], Smax, t.shape[3]), dtype=dtype) for t in (k, v))
    mask = replace(mask, shape=(*mask.shape[:3], Smax))
    return published.label_calls([replace(entry.call, inputs=(q, k, v, mask))])[0]


def with_default_config(entry: Labelled) -> Labelled:
    """A linear call with ttnn's own choice of config."""
    config = entry.call.kwargs["program_config"]
    kwargs = {k: v for k, v in entry.call.kwargs.items() if k != "program_config"}
    kwargs["activation"] = "silu" if config.fused_activation is not None else None
    return published.label_calls([replace(entry.call, kwargs=kwargs)])[0]


def attention_of(calls: list[Labelled]) -> Labelled:
    """The attention of a layer."""
    return next(e for e in calls if e.label == "attention")


def held_out_rows(
    reference: list[Labelled], standard: list[Labelled], folded: list[Labelled], chip: Chip = P150
) -> Iterator[Row]:
    """Published rows that no constant was fitted to."""
    decode = attention_of(reference)
    for Smax, dtype in ((5120, "bf16"), (8192, "bfp8"), (5120, "bfp8")):
        yield _row(with_cache(decode, Smax, dtype), f"decode attention, Smax {Smax}, {dtype} cache", chip)
    for name, calls in (("standard attention", standard), ("standard attention, folded", folded)):
        for Smax in (8192, 5120):
            yield _row(with_cache(attention_of(calls), Smax, "bf16"), f"{name}, Smax {Smax}", chip)
    for entry in reference:
        if entry.call.name == "linear":
            yield _row(with_default_config(entry), f"{entry.label}, ttnn's default config", chip)
    rows = reference_rows(reference, chip)
    older, today = (LAYERS * sum(us) for us in ([r.older for r in rows], [r.today for r in rows]))
    yield Row(f"step of {LAYERS} layers", STEP_US, older, today, "-")


def tables(
    reference: list[Labelled], standard: list[Labelled], folded: list[Labelled], chip: Chip = P150
) -> dict[str, str]:
    """The tables of docs/cost-model.md by name, in markdown."""
    rows = reference_rows(reference, chip)
    published_us, older, today = (sum(us) for us in zip(*((r.published, r.older, r.today) for r in rows), strict=True))
    listed = "".join(f"| `{name}` | {value:g} {unit} | {source} |\n" for name, value, unit, source in constants(chip))
    return {
        "constants": "| constant | value | source |\n|---|---|---|\n" + listed,
        "reference": _table([*rows, Row("sum of the ops", published_us, older, today, "-")]),
        "held-out": _table(list(held_out_rows(reference, standard, folded, chip))),
    }


def _table(rows: list[Row]) -> str:
    head = "| | published | predicted, older ttnn | error | predicted, 0.81.1 | binds |\n|---|--:|--:|--:|--:|---|\n"
    return head + "".join(map(_line, rows))


def _line(r: Row) -> str:
    error = r.older / r.published - 1
    return f"| {r.name} | {r.published:.1f} | {r.older:.1f} | {error:+.1%} | {r.today:.1f} | {r.binds} |\n"


if __name__ == "__main__":
    op_graph, standard, folded = map(layer, SPECS)
    for name, table in tables(op_graph, standard, folded).items():
        print(f"{name}\n\n{table}")
