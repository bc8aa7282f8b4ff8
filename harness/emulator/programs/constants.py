"""The constants of virtual time, as the machine has them: one table, in ``native/machine/timing.h``.

``python -m harness.emulator.programs`` prints it as docs/emulator.md has it.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass

from harness.emulator import toolchain


@dataclass(frozen=True)
class Constant:
    """``mark``: "S" public measurements, "F" fitted to published times of ttnn's ops, "A" assumed."""

    name: str
    value: float
    unit: str
    mark: str
    source: str


def machine_constants() -> list[Constant]:
    """The table. Builds the machine where that has not been done."""
    printed = subprocess.run([toolchain.machine(), "constants"], check=True, capture_output=True, text=True).stdout
    return [Constant(**row) for row in json.loads(printed)]


def markdown(constants: list[Constant]) -> str:
    """The table of docs/emulator.md."""
    rows = (f"| `{c.name}` | {f'{c.value:g} {c.unit}'.strip()} | {c.mark} | {c.source} |\n" for c in constants)
    return "| constant | value | | source |\n|---|---|---|---|\n" + "".join(rows)
