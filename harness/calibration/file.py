"""The calibration file: JSON with every constant, whether it was fitted, and how near the predictions came."""

from __future__ import annotations

import dataclasses
import json
import math
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from harness import files, record
from harness.calibration.run import Calibration, Side
from harness.costs import Chip
from harness.costs.chip import constants
from harness.errors import UsageError
from harness.targets import Target

KIND, SCHEMA = "layerbench calibration", 1


def write(path: Path, c: Calibration, target: Target) -> None:
    """Write it whole or not at all. Raises ``UsageError`` where that cannot be."""
    files.write_json(
        path,
        {
            "kind": KIND,
            "schema": SCHEMA,
            "date": datetime.now(timezone.utc).date().isoformat(),
            "environment": record.environment(),
            "target": target.name,
            "origin": c.origin,
            "chip": c.chip.name,
            "grid": list(c.chip.grid),
            "clock_ghz": c.chip.clock,
            "costs": _side(c.costs),
            "machine": _side(c.machine),
        },
        indent=2,
    )


def _side(s: Side) -> dict[str, Any]:
    return {
        "constants": {
            name: {"value": value, "published": s.published[name], "unit": s.units[name],
                   "fitted": name in s.fit.fitted}
            for name, value in s.fit.values.items()
        },
        "residuals": {
            name: {"measured_us": us, "predicted_us": after, "error": after / us - 1}
            for (name, us), after in zip(s.measured.items(), s.fit.after, strict=True)
        },
    }  # fmt: skip


def read(path: Path, chip: Chip) -> Chip:
    """``chip`` with the constants of the file. Raises ``UsageError`` for one that is damaged or not for it."""
    from harness.emulator.programs import machine_constants

    try:
        text = json.loads(path.read_text())
    except OSError as error:
        raise UsageError(f"cannot read the calibration {path}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path} is no calibration file: it is not JSON; layerbench calibrate writes one") from error
    if not isinstance(text, dict) or text.get("kind") != KIND:
        raise UsageError(f"{path} is no calibration file; layerbench calibrate writes one")
    if text.get("schema") != SCHEMA:
        raise UsageError(
            f"{path} has schema {text.get('schema')}, this layerbench reads {SCHEMA}: run layerbench calibrate again"
        )
    if text.get("chip") != chip.name:
        raise UsageError(
            f"{path} is of a {text.get('chip')}, and the chip is {chip.name}: give --chip {text.get('chip')}"
        )
    known = {name for name, *_ in constants(chip)}, {c.name for c in machine_constants()}
    try:
        costs, machine = (
            {name: c["value"] for name, c in text[side]["constants"].items()} for side in ("costs", "machine")
        )
        fitted = [sum(c["fitted"] for c in text[side]["constants"].values()) for side in ("costs", "machine")]
        columns, rows = text["grid"]
        origin, date = text["origin"], text["date"]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path} is damaged ({error}): run layerbench calibrate again") from error
    for values, names in zip((costs, machine), known, strict=True):
        for name, value in values.items():
            if name not in names:
                raise UsageError(f"{path} has a constant {name!r} that this layerbench does not know: calibrate again")
            if not isinstance(value, (int, float)) or not math.isfinite(value) or value <= 0:
                raise UsageError(f"{path} is damaged: {name} is {value!r}, and it must be a number above 0")
    line = f"calibration {path.name}: {origin}, {date}; {fitted[0]} constants fitted of {len(costs)}"
    return dataclasses.replace(
        chip, grid=(columns, rows), calibration=f"{line} (virtual time: {fitted[1]} of {len(machine)})",
        machine={**chip.machine, **machine}, **costs,
    )  # fmt: skip
