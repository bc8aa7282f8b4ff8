"""What records tell together: an implementation over time, and what changed between two of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import results
from harness.case import Case
from harness.errors import UsageError
from harness.shape import PRESETS

Record = Mapping[str, Any]
Value = str | float | None
ACCURACY = ("output", "update", "K rows", "V rows")
FIGURES = ("pcc", "relative_l2", "max_abs")


@dataclass(frozen=True)
class Row:
    """One implementation in one record. us: predicted or measured, as `origin` says."""

    record: str
    git: str
    target: str
    implementation: str
    case: str
    passed: bool
    verdict: str
    us: float | None
    origin: str
    pcc: float | None
    max_abs: float | None


@dataclass(frozen=True)
class Change:
    """Something that differs between two records."""

    what: str
    before: Value
    after: Value

    @property
    def share(self) -> float | None:
        """How much more, of numbers."""
        a, b = self.before, self.after
        return b / a - 1 if isinstance(a, (int, float)) and isinstance(b, (int, float)) and a else None


def of_implementation(folder: Path, name: str) -> tuple[list[Row], list[str]]:
    """Its rows, oldest first, with any options unless `name` has some; and what could not be read.

    Raises `UsageError` where there is none.
    """
    rows: list[tuple[str, Row]] = []
    unread: list[str] = []
    seen: set[str] = set()
    for path in results.records(folder):
        try:
            record = results.read(path)
        except UsageError as error:
            unread.append(str(error))
            continue
        entries = results.entries(record)
        names = [e["check"]["implementation"] for e in entries]
        seen |= set(names)
        for entry, found in zip(entries, names, strict=True):
            if name in (found, found.partition(":")[0]):
                rows.append((record["time"], _row(path.stem, record, entry, names[0])))
    if not rows:
        known = f"; it has {', '.join(sorted(seen))}" if seen else ""
        raise UsageError(f"{folder} has no record of {name!r}{known}")
    return [row for _, row in sorted(rows, key=lambda pair: pair[0])], unread


def _row(name: str, record: Record, entry: Record, first: str) -> Row:
    check, us = entry["check"], _us(entry)
    found = (entry.get("timing") or {}).get("finding")
    numbers: Record = next((p for p in check["parts"] if p["name"] == "output"), {})
    return Row(
        name,
        git_text(record["environment"]["git"]),
        record["target"],
        check["implementation"],
        case_text(check["case"]),
        passed(entry),
        f"{found['verdict']} to {first}" if found else "",
        us,
        "measured" if record["target"] == "device" else "predicted",
        numbers.get("pcc"),
        numbers.get("max_abs"),
    )


def passed(entry: Record) -> bool:
    """Right, and still right after it was timed."""
    return entry["check"]["passed"] and all(p["passed"] for p in entry.get("after_timing", ()))


def _us(entry: Record) -> float | None:
    """Of the layer, if it is right."""
    if not passed(entry):
        return None
    timing = entry.get("timing")
    us: float | None = timing["us"] if timing else entry["breakdown"]["predicted_us"]
    return us


def git_text(state: Mapping[str, str | None] | None) -> str:
    """Commit, and a + where there were changes since."""
    return f"{(state['commit'] or '')[:8]}{'+' if state['changes'] else ''}" if state else "-"


def case_text(case: Mapping[str, Any]) -> str:
    """What is not as in the real layer at its usual context."""
    usual = _flat(dataclasses.asdict(Case()))
    own = {k: v for k, v in _flat(case).items() if v != usual.get(k)}
    preset = next((name for name, shape in PRESETS.items() if dataclasses.asdict(shape) == case["shape"]), None)
    texts = [f"{k.rpartition('.')[2]} {v}" for k, v in own.items() if not (preset and k.startswith("shape."))]
    return ", ".join([preset or "", *texts]).removeprefix(", ")


def changes(a: Record, b: Record) -> list[Change]:
    """Environment and case, then verdicts, us, accuracy and us of the ops of each implementation that is in both."""
    both = [{e["check"]["implementation"]: e for e in results.entries(record)} for record in (a, b)]
    common = both[0].keys() & both[1].keys()
    before, after = (_facts(record, of, common) for record, of in zip((a, b), both, strict=True))
    names = [*before, *(name for name in after if name not in before)]
    return [Change(n, before.get(n), after.get(n)) for n in names if before.get(n) != after.get(n)]


def _facts(record: Record, of: Mapping[str, Record], common: Collection[str]) -> dict[str, Value]:
    case = next(iter(of.values()))["check"]["case"]
    facts: dict[str, Value] = {"command": record["command"], "target": record["target"]}
    facts |= _flat(record["environment"]) | {f"case {k}": v for k, v in _flat(case).items()}
    for name, entry in of.items():
        told = _entry_facts(entry) if name in common else [("is", "there")]
        facts |= {f"{name}: {what}": value for what, value in told}
    return facts


def _entry_facts(entry: Record) -> Iterable[tuple[str, Value]]:
    found = (entry.get("timing") or {}).get("finding")
    yield "check", "PASS" if passed(entry) else "FAIL"
    yield "verdict", found["verdict"] if found else None
    yield "us", _us(entry)
    for part in (*entry["check"]["parts"], *entry.get("after_timing", ())):
        yield part["name"], None if part["passed"] else "FAIL"
        if part["name"] in ACCURACY:
            yield from ((f"{part['name']} {figure}", part.get(figure)) for figure in FIGURES)
    counts: dict[str, int] = {}
    for op in entry["breakdown"]["ops"]:
        counts[op["op"]] = counts.get(op["op"], 0) + 1
        label = f"{op['op']} ({counts[op['op']]})" if counts[op["op"]] > 1 else op["op"]
        yield f"{label} us", op["predicted"]["us"] if op["predicted"] else None


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Value]:
    flat: dict[str, Value] = {}
    for key, value in values.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {f"{prefix}{key}": value}
    return flat
