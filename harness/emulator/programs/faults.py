"""A kernel's fault: what it is, where in the source, on which core and thread."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.emulator.toolchain import NATIVE, tool


@dataclass(frozen=True)
class Location:
    """A line of a kernel."""

    file: Path
    line: int

    def __str__(self) -> str:
        # Every folder of kernels has a reader.cpp; the name of one in the cache says nothing.
        folder = "" if self.file.name.startswith("inline_") else f"{self.file.parent.name}/"
        return f"{folder}{self.file.name}:{self.line}"

    @property
    def text(self) -> str:
        """The line itself, or nothing when the file is gone."""
        try:
            return self.file.read_text().splitlines()[self.line - 1].strip()
        except (OSError, IndexError):
            return ""


@dataclass(frozen=True)
class Note:
    """What else belongs to a fault, and where."""

    text: str
    location: Location | None
    thread: str


class KernelFault(RuntimeError):
    """A kernel did something that is wrong on the device.

    ``kind``: which fault, one word (docs/emulator.md lists them). ``location``: file and line, or None. ``core``:
    logical (x, y), or None. ``thread``: RISCV_0, RISCV_1, unpack, math or pack. ``notes``: other places that belong
    to it.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        location: Location | None = None,
        core: tuple[int, int] | None = None,
        thread: str = "",
        notes: Sequence[Note] = (),
    ) -> None:
        self.kind, self.message, self.location = kind, message, location
        self.core, self.thread, self.notes = core, thread, tuple(notes)
        super().__init__(self._report())

    def _report(self) -> str:
        where = f"{self.location}: " if self.location else ""
        who = f"core ({self.core[0]},{self.core[1]}) {self.thread}: " if self.core else ""
        lines = [f"{where}{who}{self.kind}: {self.message}"]
        if self.location and self.location.text:
            lines.append(f"    {self.location.text}")
        for note in self.notes:
            place = f"{note.location}: " if note.location else ""
            lines.append(f"  {place}{note.text}" + (f" ({note.thread})" if note.thread else ""))
            if note.location and note.location.text:
                lines.append(f"    {note.location.text}")
        return "\n".join(lines)


def from_report(report: dict[str, Any]) -> KernelFault:
    """The machine's JSON report as an exception."""
    notes = [Note(n["text"], _innermost(n["at"]), _who(n["at"])) for n in report["notes"]]
    at = report["at"]
    core = (at["core"][0], at["core"][1]) if "core" in at else None
    lines = _lines(at)
    if len(lines) > 1:
        notes.insert(0, Note("called here", lines[-1], ""))
    return KernelFault(report["kind"], report["message"], _innermost(at), core, at.get("thread", ""), notes)


def _who(at: dict[str, Any]) -> str:
    return f"core ({at['core'][0]},{at['core'][1]}) {at['thread']}" if "core" in at else ""


def _innermost(at: dict[str, Any]) -> Location | None:
    return next(iter(_lines(at)), None)


def _lines(at: dict[str, Any]) -> list[Location]:
    return lines_of([at])[0]


def lines_of(places: Sequence[dict[str, Any]]) -> list[list[Location]]:
    """For each code address in a report of the machine the lines of the kernel's own files, from the innermost to the
    one that called it."""
    wanted: dict[str, set[int]] = {}
    for at in places:
        if "object" in at:
            wanted.setdefault(at["object"], set()).add(at["offset"])
    frames = {binary: _frames(binary, tuple(sorted(offsets))) for binary, offsets in wanted.items()}
    return [
        [f for f in frames[at["object"]][at["offset"]] if NATIVE not in f.file.parents and f.file.name != "unit.cpp"]
        if "object" in at
        else []
        for at in places
    ]


@functools.lru_cache(maxsize=256)
def _frames(binary: str, offsets: tuple[int, ...]) -> dict[int, list[Location]]:
    command = [tool("addr2line"), "-e", binary, "-a", "-i", *map(hex, offsets)]
    lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    frames: dict[int, list[Location]] = {offset: [] for offset in offsets}
    offset = -1
    for line in lines:
        if line.startswith("0x"):
            offset = int(line, 16)
            continue
        file, _, number = line.split(" (discriminator")[0].rpartition(":")
        if number.isdigit() and int(number):
            frames[offset].append(Location(Path(file), int(number)))
    return frames
