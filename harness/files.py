"""Writes a file whole or not at all: who reads it, or is killed at any moment, finds the old one or the new one."""

from __future__ import annotations

import contextlib
import json
import math
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.errors import UsageError


def write_text(path: Path, text: str) -> None:
    """Write beside the file, with the mode that any new file gets, and rename. Raises `UsageError`."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        try:
            with beside.open("x") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())  # else a crash of the machine may leave a name without its contents
            beside.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def write_json(path: Path, data: Mapping[str, Any], indent: int | None = None) -> None:
    """The same for JSON; without `indent` in one line. JSON knows no NaN and no infinity: they become null."""
    separators = (",", ":") if indent is None else None
    try:
        text = json.dumps(data, indent=indent, separators=separators, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(data), indent=indent, separators=separators, allow_nan=False)
    write_text(path, text)


def _finite(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
