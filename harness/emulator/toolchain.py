"""Native code: finding a C++ compiler, and building into a cache that is addressed by content."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness.errors import UsageError

NATIVE = Path(__file__).parent / "native"


def cache_dir() -> Path:
    """Where compiled code is kept: LAYERBENCH_CACHE, or layerbench in the user's cache directory."""
    own = os.environ.get("LAYERBENCH_CACHE")
    base = Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "layerbench"
    try:
        base.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the cache folder {base}: {error.strerror}; set LAYERBENCH_CACHE") from error
    if not os.access(base, os.W_OK):
        raise UsageError(f"the cache folder {base} is not writable; set LAYERBENCH_CACHE to one that is")
    return base


def find_compiler() -> str | None:
    """Path of the C++ compiler: $CXX where that is set, else g++ or clang++. None where there is none."""
    own = os.environ.get("CXX")
    if own and shutil.which(own) is None:
        raise UsageError(f"CXX names {own}, which is not there; set it to a C++ compiler, or unset it")
    return next(filter(None, map(shutil.which, [own] if own else ["g++", "clang++"])), None)


@functools.cache
def compiler() -> tuple[str, str]:
    """Path and version text of the C++ compiler. Raises UsageError when there is none."""
    path = find_compiler()
    if path is None:
        raise UsageError("no C++ compiler found: the emulator needs g++ or clang++ (or CXX set to one) to run kernels")
    return path, subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout


def is_clang() -> bool:
    """Whether the compiler is clang."""
    return "clang" in compiler()[1]


def tool(name: str) -> str:
    """Path of one of binutils' programs, or of LLVM's that stands in for it. Raises UsageError when there is none."""
    path = shutil.which(name) or shutil.which(f"llvm-{'cxxfilt' if name == 'c++filt' else name}")
    if path is None:
        raise UsageError(f"{name} not found: the emulator needs binutils, which compilers come with")
    return path


@functools.cache
def cpu() -> str:
    """What code built for this CPU depends on."""
    flags = ""
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        flags = next(line for line in lines if line.startswith(("flags", "Features")))
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
    files = sorted(p for p in folder.rglob("*") if p.suffix in (".h", ".hpp", ".cpp"))
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


@functools.cache
def machine() -> Path:
    """The emulator's executable, built at the first use (half a minute)."""
    return build_machine(sorted([*(NATIVE / "machine").glob("*.cpp"), *(NATIVE / "tile").glob("*.cpp")]))


def build_machine(sources: Sequence[Path]) -> Path:
    """The machine made of `sources`; they may include its headers by name."""
    path, version = compiler()
    # Floating point as written: results must not depend on contraction.
    flags = [
        "-std=c++17",
        "-O2",
        "-g1",
        "-march=native",
        "-ffp-contract=off",
        "-fno-exceptions",
        "-fno-rtti",
        "-Wno-psabi",
    ]
    headers = [
        p.read_bytes() for folder in ("include", "tile", "machine") for p in sorted((NATIVE / folder).rglob("*.h"))
    ]
    common = digest([version, cpu(), *flags, *headers])
    keys = {source: digest([common, source.read_bytes()]) for source in sources}

    flags += ["-I", str(NATIVE / "machine")]  # a path, so no part of the key

    def compile_object(source: Path) -> Path:
        return build("machine.o", keys[source], lambda out: _run([path, *flags, "-c", str(source), "-o", str(out)]))

    def link(out: Path) -> None:
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            objects = [str(o) for o in pool.map(compile_object, keys)]
        _run([path, *objects, "-o", str(out), "-rdynamic", "-ldl"])

    return build("machine", digest(["machine", *keys.values()]), link)


def library(source: Path) -> Path:
    """``source`` as a shared library, built at the first use."""
    path, version = compiler()
    flags = ["-std=c++17", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-shared", "-fPIC"]
    key = digest([version, cpu(), *flags, source.read_bytes()])
    return build(f"{source.stem}.so", key, lambda out: _run([path, *flags, str(source), "-o", str(out)]))


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["it says nothing"])[0]
        raise UsageError(f"{command[0]} does not compile the emulator: {said[:400]}; set CXX to g++ or clang++")
