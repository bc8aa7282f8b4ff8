"""Building the emulator's C++: compiled once for this machine, kept in the user's cache, loaded from there."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

FLAGS = ("-std=c++17", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-shared", "-fPIC")


def compiler() -> str | None:
    """The C++ compiler: $CXX, or the first of c++, g++ and clang++ there is. None where there is none."""
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        if name and (path := shutil.which(name)):
            return path
    return None


@functools.cache
def library(source: Path) -> ctypes.CDLL | None:
    """``source`` as a loaded library, or None without a compiler. Raises RuntimeError when it does not compile."""
    cxx = compiler()
    if cxx is None:
        return None
    # The predefined macros name the compiler's version and what the processor can do.
    machine = subprocess.run(
        [cxx, *FLAGS, "-dM", "-E", "-x", "c++", os.devnull], capture_output=True, check=False
    ).stdout
    key = hashlib.sha256(b"\0".join([source.read_bytes(), " ".join(FLAGS).encode(), machine])).hexdigest()[:16]
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "layerbench"
    path = folder / f"{source.stem}-{key}.so"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as aside:
            built = Path(aside) / path.name
            run = subprocess.run(
                [cxx, *FLAGS, str(source), "-o", str(built)], capture_output=True, text=True, check=False
            )
            if run.returncode:
                raise RuntimeError(f"{cxx} does not compile {source.name}: {run.stderr.strip().splitlines()[0]}")
            built.replace(path)
    return ctypes.CDLL(str(path))
