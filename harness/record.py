"""JSON records of what a command found, and of what it was found on. docs/records.md has the schema."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

import layer_impls
from harness import costs
from harness.breakdown import Breakdown, rates
from harness.check import CheckResult
from harness.compare import Comparison
from harness.emulator.programs import Counts
from harness.errors import UsageError
from harness.explain import OpShare
from harness.files import write_json
from harness.results import SCHEMA
from harness.targets import Target

GIT_SECONDS = 10


def environment() -> dict[str, Any]:
    """What a result depends on: versions, and the state of the tree that has the implementations."""
    found: dict[str, Any] = {"python": platform.python_version(), "machine": platform.machine()}
    for package in ("layerbench", "torch", "numpy", "ttnn"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return {**found, "git": git_state(Path(layer_impls.__file__).parent)}


def git_state(folder: Path) -> dict[str, str | None] | None:
    """Commit, and a digest of the changes since (None: none); None where there is no git."""

    def git(*args: str) -> bytes:
        command = ["git", "-C", str(folder), *args]
        return subprocess.run(command, capture_output=True, check=True, timeout=GIT_SECONDS).stdout

    try:
        commit = git("rev-parse", "HEAD").decode().strip()
        changes = git("status", "--porcelain") + git("diff", "HEAD")
    except (OSError, subprocess.SubprocessError):
        return None
    return {"commit": commit, "changes": hashlib.blake2b(changes, digest_size=6).hexdigest() if changes else None}


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


def check_result_dict(r: CheckResult, b: Breakdown) -> dict[str, Any]:
    """A check for JSON, in the form of a comparison."""
    return {"passed": r.passed, "entries": [{"check": check_dict(r), "breakdown": breakdown_dict(b)}]}


def comparison_dict(c: Comparison) -> dict[str, Any]:
    """A comparison for JSON."""
    entries = [
        {
            "check": check_dict(e.check),
            "breakdown": breakdown_dict(e.breakdown),
            "timing": dataclasses.asdict(e.timing) if e.timing else None,
            "why_no_time": e.why or None,
            "after_timing": [p.as_dict() for p in e.after],
        }
        for e in c.entries
    ]
    again = dataclasses.asdict(c.again) if c.again else None
    return {
        "passed": c.passed,
        "origin": c.origin,
        "clock_mhz": c.clock_mhz,
        "entries": entries,
        "first_again": again,
    }


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
    if path.exists() and not path.is_file():
        raise UsageError(f"cannot write {path}: it is a device; {option} takes a file")
    if not path.parent.is_dir():
        raise UsageError(f"cannot write {path}: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise UsageError(f"cannot write {path}: the folder {path.parent} is not writable")


def make(command: str, target: Target, result: dict[str, Any]) -> dict[str, Any]:
    """A command's result, with what it was found on."""
    grid, chip, emulated = target.device.compute_with_storage_grid_size(), target.chip, target.name == "emulator"
    device = {
        "grid": f"{grid.x}x{grid.y}",
        "chip": chip.name if emulated else None,
        "clock_mhz": round(chip.clock * 1e3) if emulated else result.get("clock_mhz"),
        "calibration": chip.calibration if emulated else None,
    }
    return {
        "schema": SCHEMA,
        "command": command,
        "time": datetime.now(timezone.utc).isoformat(),
        "target": target.name,
        "opened": target.opened,
        "environment": {**environment(), **device},
        "result": result,
    }


def write(path: Path, command: str, target: Target, result: dict[str, Any]) -> None:
    """The same into a file."""
    write_json(path, make(command, target, result), indent=2)
