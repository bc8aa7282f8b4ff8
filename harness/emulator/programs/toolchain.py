"""Native code: finding a C++ compiler, and building into a cache that is addressed by content."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from harness.errors import UsageError

NATIVE = Path(__file__).parent.parent / "native"


def cache_dir() -> Path:
    """Where compiled code is kept: LAYERBENCH_CACHE, or layerbench in the user's cache directory."""
    own = os.environ.get("LAYERBENCH_CACHE")
    base = Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "layerbench"
    base.mkdir(parents=True, exist_ok=True)
    return base


@functools.cache
def compiler() -> tuple[str, str]:
    """Path and version text of the C++ compiler: $CXX, g++ or clang++. Raises UsageError when there is none."""
    for name in filter(None, (os.environ.get("CXX"), "g++", "clang++")):
        path = shutil.which(name)
        if path:
            version = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
            return path, version
    raise UsageError("no C++ compiler found: the emulator needs g++ or clang++ (or CXX set to one) to run kernels")


def is_clang() -> bool:
    """Whether the compiler is clang."""
    return "clang" in compiler()[1]


@functools.cache
def cpu() -> str:
    """What code built for this CPU depends on."""
    flags = ""
    try:
        flags = next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith(("flags", "Feat")))
    except (OSError, StopIteration):
        pass
    return platform.machine() + flags


def digest(parts: Iterable[bytes | str]) -> str:
    """A content address of ``parts``."""
    h = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        h.update(len(data).to_bytes(8, "little"))
        h.update(data)
    return h.hexdigest()[:32]


@functools.cache
def _tree(folder: Path) -> str:
    files = sorted(p for p in folder.rglob("*") if p.suffix in (".h", ".cpp"))
    return digest(part for p in files for part in (str(p.relative_to(folder)), p.read_bytes()))


def headers_digest() -> str:
    """Content address of the headers that kernels are compiled against."""
    return _tree(NATIVE / "include")


def build(name: str, key: str, make: Callable[[Path], None]) -> Path:
    """The cached file ``key/name``; ``make(path)`` writes it when it is missing. Written aside and renamed into place,
    so that two processes may build the same thing."""
    target = cache_dir() / key[:2] / key / name
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as tmp:
        path = Path(tmp) / name
        make(path)
        os.replace(path, target)
    return target


def machine() -> Path:
    """The emulator's executable, built at the first use (half a minute)."""
    path, version = compiler()
    sources = sorted([*(NATIVE / "machine").glob("*.cpp"), *(NATIVE / "tile").glob("*.cpp")])
    # Floating point as written: results must not depend on contraction.
    flags = ["-std=c++17", "-O2", "-g1", "-march=native", "-ffp-contract=off", "-fno-exceptions", "-fno-rtti", "-Wno-psabi"]
    key = digest([version, cpu(), *flags, _tree(NATIVE / "machine"), _tree(NATIVE / "tile"), headers_digest()])

    def make(out: Path) -> None:
        objects = []
        running = []
        for source in sources:
            objects.append(str(out.parent / (source.stem + ".o")))
            command = [path, *flags, "-c", str(source), "-o", objects[-1]]
            running.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
            if len(running) == 2:
                _finish(running.pop(0))
        for process in running:
            _finish(process)
        _finish(subprocess.Popen([path, *objects, "-o", str(out), "-rdynamic", "-ldl"], stderr=subprocess.PIPE, text=True))

    return build("machine", key, make)


def _finish(process: subprocess.Popen[str]) -> None:
    out, err = process.communicate()
    if process.returncode:
        raise UsageError(f"the emulator does not compile with {compiler()[0]}:\n{out or ''}{err or ''}"[:4000])
