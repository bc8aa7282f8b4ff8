"""JSON records of what a command found, written whole or not at all."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import tempfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from harness import costs
from harness.breakdown import Breakdown, rates
from harness.check import CheckResult
from harness.compare import Comparison
from harness.emulator.programs import Counts
from harness.errors import UsageError
from harness.explain import OpShare
from harness.targets import Target

SCHEMA = 1


def environment() -> dict[str, str]:
    """Versions that a result depends on."""
    versions = {"python": platform.python_version(), "machine": platform.machine()}
    for package in ("layerbench", "torch", "ttnn"):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = "not installed"
    return versions


def check_dict(r: CheckResult) -> dict[str, Any]:
    """A verdict for JSON."""
    return {
        "implementation": r.implementation,
        "passed": r.passed,
        "case": dataclasses.asdict(r.case),
        "parts": [p.as_dict() for p in r.parts],
        "ops": len(r.calls),
        "host_s": r.host_s,
    }


def breakdown_dict(b: Breakdown) -> dict[str, Any]:
    """A breakdown for JSON."""
    lines = [
        {
            "op": line.label,
            "call": line.call.name,
            "inputs": [str(t) for t in line.call.inputs],
            "outputs": [str(t) for t in line.call.outputs],
            "device_us": line.us,
            "predicted": dataclasses.asdict(line.predicted) if line.predicted else None,
            "host_s": line.call.host_s,
            "counts": counts_dict(line.counts.total) if line.counts else None,
            "program": dataclasses.asdict(rates(line.counts, b.chip)) if line.counts else None,
            "l1": [dataclasses.asdict(group) for group in line.counts.l1] if line.counts else None,
        }
        for line in b.lines
    ]
    predicted = any(line.predicted for line in b.lines)
    return {
        "implementation": b.implementation,
        "chip": b.chip.name,
        "device_us": b.total_us,
        "origin": b.origin,
        "predicted_us": b.predicted_us,
        "predicted_origin": f"{costs.ORIGIN}; {b.chip.calibration}" if predicted else None,
        "dram_floor_us": costs.floor_us(b.case, b.chip),
        "ops": lines,
    }


def counts_dict(counts: Counts) -> dict[str, Any]:
    """What a program did, for JSON; `dataclasses.asdict` does not know how to copy a Counter."""
    return {**vars(counts), "tile_ops": dict(counts.tile_ops)}


def comparison_dict(c: Comparison) -> dict[str, Any]:
    """A comparison for JSON."""
    entries = [
        {"check": check_dict(e.check), "breakdown": breakdown_dict(e.breakdown), "device_us": e.us} for e in c.entries
    ]
    return {"passed": c.passed, "origin": c.origin, "why_no_time": c.why or None, "entries": entries}


def explanation_dict(b: Breakdown, ops: Sequence[OpShare]) -> dict[str, Any]:
    """An explanation for JSON."""
    return {
        "implementation": b.implementation,
        "chip": b.chip.name,
        "predicted_us": b.predicted_us,
        "origin": f"{costs.ORIGIN}; {b.chip.calibration}; programs of kernels by virtual time",
        "ops": [dataclasses.asdict(op) for op in ops],
    }


def check_path(path: Path | None, option: str = "--json") -> None:
    """Raise `UsageError` if `option` cannot write to `path`; better before the work than after it."""
    if path is None:
        return
    if path.is_dir() or not path.name:
        raise UsageError(f"cannot write {path}: it is a folder; {option} takes a file")
    if not path.parent.is_dir():
        raise UsageError(f"cannot write {path}: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise UsageError(f"cannot write {path}: the folder {path.parent} is not writable")


def write(path: Path, command: str, target: Target, result: dict[str, Any]) -> None:
    """A command's result, with what it was found on."""
    record = {
        "schema": SCHEMA,
        "command": command,
        "target": target.name,
        "opened": target.opened,
        "environment": environment(),
        "result": result,
    }
    write_json(path, record, indent=2)


def write_json(path: Path, data: dict[str, Any], indent: int | None = None) -> None:
    """Write beside the file and rename, so that a reader sees the old file or the new one."""
    separators = (",", ":") if indent is None else None
    try:
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            json.dump(data, file, indent=indent, separators=separators)
        os.replace(file.name, path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
