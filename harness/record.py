"""JSON records of what a command found, written whole or not at all."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

from harness import costs
from harness.breakdown import Breakdown
from harness.check import CheckResult
from harness.compare import Comparison
from harness.errors import UsageError
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
            "counts": dataclasses.asdict(line.counts.total) if line.counts else None,
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


def comparison_dict(c: Comparison) -> dict[str, Any]:
    """A comparison for JSON."""
    entries = [
        {"check": check_dict(e.check), "breakdown": breakdown_dict(e.breakdown), "device_us": e.us} for e in c.entries
    ]
    return {"passed": c.passed, "origin": c.origin, "why_no_time": c.why or None, "entries": entries}


def check_path(path: Path | None) -> None:
    """Raise `UsageError` if no record can be written to `path`; better before the work than after it."""
    if path is None:
        return
    if path.is_dir() or not path.name:
        raise UsageError(f"cannot write {path}: it is a folder; --json takes a file")
    if not path.parent.is_dir():
        raise UsageError(f"cannot write {path}: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise UsageError(f"cannot write {path}: the folder {path.parent} is not writable")


def write(path: Path, command: str, target: Target, result: dict[str, Any]) -> None:
    """Write the record of a command: a reader sees the old one or the new one."""
    record = {
        "schema": SCHEMA,
        "command": command,
        "target": target.name,
        "opened": target.opened,
        "environment": environment(),
        "result": result,
    }
    write_json(path, record)


def write_json(path: Path, record: dict[str, Any]) -> None:
    """Write whole or not at all: beside the file, then renamed. Raises `UsageError` where that cannot be."""
    try:
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            json.dump(record, file, indent=2)
        os.replace(file.name, path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
