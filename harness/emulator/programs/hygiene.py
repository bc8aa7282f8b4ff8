"""What the device's compiler would refuse and the host's would not: host headers, heap and library calls, state that
cores would share."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.emulator.programs.faults import KernelFault, Location
from harness.emulator.toolchain import tool

# The freestanding part of the C++ library, which the device's toolchain offers too.
FREESTANDING = re.compile(
    r"algorithm|array|bit|cstddef|cstdint|cstring|initializer_list|iterator|limits|numeric|optional|tuple|type_traits"
    r"|utility|variant|stddef\.h|stdint\.h|string\.h"
)
HOST_FOLDERS = ("sys/", "bits/", "linux/", "asm/", "arpa/", "net/", "netinet/")
# What an object may leave to the loader: the machine's functions, the instrumentation, and the compiler's own calls.
PROVIDED = re.compile(r"lb_\w+|__tsan_\w+|memcpy|memset|memmove|_GLOBAL_OFFSET_TABLE_")
INCLUDE = re.compile(r'^\s*#\s*include\s*(<([^>]+)>|"([^"]+)")')


def project_files(source: Path, include_paths: Sequence[Path]) -> dict[Path, str]:
    """The kernel and the files of its project that it includes, with their text."""
    files: dict[Path, str] = {}
    todo = [source]
    while todo:
        path = todo.pop()
        if path in files:
            continue
        files[path] = path.read_text()
        for line in files[path].splitlines():
            found = INCLUDE.match(line)
            name = found and (found[2] or found[3])
            candidates = [(folder / name).resolve() for folder in (path.parent, *include_paths)] if name else []
            todo += [c for c in candidates if c.is_file()][:1]
    return files


def check_includes(files: Mapping[Path, str]) -> None:
    """Raises KernelFault for a host header in one of a kernel's files."""
    for path, text in files.items():
        for number, line in enumerate(text.splitlines(), start=1):
            found = INCLUDE.match(line)
            if not found:
                continue
            angle, quoted = found[2], found[3]
            name = angle or quoted
            host = angle and ("/" not in angle or angle.startswith(HOST_FOLDERS)) or quoted and "." not in quoted
            if host and not FREESTANDING.fullmatch(name):
                raise KernelFault(
                    "host-header",
                    f"<{name}> is a header of the host: kernels have the freestanding part of the C++ library only",
                    Location(path, number),
                )


def check_symbols(object_file: Path, source: Path) -> None:
    """Raises KernelFault for a call of something the device does not have (malloc, printf, operator new, ...)."""
    for line in _nm(object_file, "-u", "-l"):
        parts = line.split()
        name = parts[1] if len(parts) > 1 else ""
        if PROVIDED.fullmatch(name):
            continue
        pretty = subprocess.run([tool("c++filt"), name], capture_output=True, text=True, check=False).stdout.strip()
        raise KernelFault(
            "compile-error",
            f"{pretty} is called, which kernels do not have",
            _line_of(line, source, pretty.split("(")[0]),
        )


def check_globals(object_file: Path, source: Path) -> None:
    """Raises KernelFault for a variable of static storage that can change: on the device every RISC of every core has
    its own, and it is undefined what it holds at the next launch."""
    for line in _nm(object_file, "-C", "-l", "--defined-only"):
        found = re.match(r"[0-9a-f]+ ([bBdDgGsScC]) (.+?)(?:\t.*)?$", line)
        if found and not found[2].startswith(("DW.ref", ".")):
            raise KernelFault(
                "mutable-global",
                f"the variable {found[2]} outlives the kernel and can change: keep state in local variables or in L1",
                _line_of(line, source, found[2].split("::")[-1]),
            )


def _nm(object_file: Path, *flags: str) -> list[str]:
    return subprocess.run(
        ["nm", *flags, str(object_file)], capture_output=True, text=True, check=True
    ).stdout.splitlines()


def _line_of(nm_line: str, source: Path, name: str) -> Location:
    found = re.search(r"\t(.+):(\d+)$", nm_line)
    if found and "/native/include/" not in found[1] and not found[1].endswith("/unit.cpp") and Path(found[1]).is_file():
        return Location(Path(found[1]), int(found[2]))
    for number, text in enumerate(source.read_text().splitlines(), start=1):
        if re.search(rf"\b{re.escape(name)}\b", text):
            return Location(source, number)
    return Location(source, 1)
