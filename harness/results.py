"""The folder of records: every check and every compare adds one. docs/records.md has what is in them."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from harness import files
from harness.errors import UsageError

SCHEMA = 2
FOLDER = Path(".layerbench/results")  # in the folder where the command runs
VARIABLE = "LAYERBENCH_RESULTS"


def prepare(folder: Path | None) -> Path:
    """The folder, made if need be; `FOLDER` unless told. Raises `UsageError` if nothing can be written to it."""
    path = folder or FOLDER
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot keep records in {path}: {error.strerror}; --results DIR takes another") from error
    if not os.access(path, os.W_OK):
        raise UsageError(f"cannot keep records in {path}: it is not writable; --results DIR takes another")
    return path


def append(folder: Path, record: Mapping[str, Any]) -> Path:
    """Add a record, in a file of its own whose name has its time and command; whole or not at all."""
    time = datetime.fromisoformat(record["time"])
    path = folder / f"{time:%Y%m%dT%H%M%SZ}-{record['command']}-{secrets.token_hex(3)}.json"
    files.write_json(path, record, indent=2)
    return path


def read(path: Path) -> dict[str, Any]:
    """One record. Raises `UsageError` for what is none, or of another schema."""
    try:
        record = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'it is no JSON'}") from error
    schema = record.get("schema") if isinstance(record, dict) else None
    if schema != SCHEMA or record.get("command") not in ("check", "compare"):
        raise UsageError(f"{path} is no record of a check or compare in schema {SCHEMA}, docs/records.md")
    return dict(record)


def records(folder: Path) -> list[Path]:
    """The files of a folder, oldest first; the names that begin with a dot are of writes that were interrupted."""
    return sorted(p for p in folder.glob("*.json") if not p.name.startswith("."))


def find(folder: Path, name: str) -> Path:
    """The record of that path, or of whose file name in the folder `name` is a part. Raises `UsageError`."""
    if Path(name).is_file():
        return Path(name)
    found = [path for path in records(folder) if name in path.name]
    if len(found) != 1:
        why = f"{len(found)} records in {folder} have it in their names" if found else f"{folder} has none of that name"
        raise UsageError(f"which record is {name!r}? {why}; layerbench history IMPL lists them")
    return found[0]


def entries(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The implementations of a record, each with its `check`, its `breakdown` and, of a compare, its `timing`."""
    return list(record["result"]["entries"])
