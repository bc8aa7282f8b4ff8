"""The tile core behind ctypes: builds it with the host's compiler and lets numpy arrays through.

A tile is a `numpy.uint32[1024]` in face order; circular-buffer bytes are `numpy.uint8[...]`.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from enum import IntEnum
from pathlib import Path

import numpy as np

NATIVE = Path(__file__).parents[2] / "harness" / "emulator" / "native" / "tile"


class Format(IntEnum):
    Float32 = 0
    Tf32 = 4
    Float16_b = 5
    Bfp8_b = 6
    Bfp4_b = 7
    Int32 = 8
    UInt16 = 9
    UInt32 = 24


def cpu_level() -> list[str]:
    """The widest x86-64 level the CPU has, as a compiler flag; none on other CPUs."""
    try:
        flags = set(Path("/proc/cpuinfo").read_text().split("flags", 1)[1].split("\n", 1)[0].split())
    except (OSError, IndexError):
        return []
    if {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= flags:
        return ["-march=x86-64-v4"]
    return ["-march=x86-64-v3"] if {"avx2", "fma", "bmi2"} <= flags else []


def compiler() -> str | None:
    return next((c for c in ("g++", "clang++", "c++") if shutil.which(c)), None)


def build(flags: tuple[str, ...] | None = None, edits: tuple[tuple[str, str, str], ...] = ()) -> Core:
    """Compiles the core and its C entry points into a shared library, each file cached by content.

    `edits` are (file, old, new): text replaced in a copy of the sources, to plant a fault.
    """
    flags = tuple(cpu_level()) if flags is None else flags
    cc = compiler()
    if cc is None:
        raise RuntimeError("no C++ compiler found: install g++ or clang++")
    sources = {p.name: p.read_text() for p in sorted(NATIVE.iterdir()) if p.suffix in (".h", ".cpp")}
    sources["tile_abi.cpp"] = (Path(__file__).parent / "tile_abi.cpp").read_text()
    for name, old, new in edits:
        if old not in sources[name]:
            raise ValueError(f"{name} has no text {old!r} to plant a fault in")
        sources[name] = sources[name].replace(old, new)

    def reached(name: str) -> list[str]:
        """The file and all that it includes."""
        found = [name]
        for file in found:
            found += [n for n in re.findall(r'#include "(.+)"', sources[file]) if n not in found]
        return [sources[n] for n in found]

    cache = Path(tempfile.gettempdir()) / f"layerbench-tile-{os.getuid()}"
    cache.mkdir(parents=True, exist_ok=True)
    command = [cc, "-std=c++17", "-O2", *flags, "-Wno-psabi", "-fPIC"]

    def once(suffix: str, content: object, *extra: str) -> Path:
        """The output of one compiler run on the sources, unless it is there already."""
        out = cache / (hashlib.sha256(repr((command, content)).encode()).hexdigest()[:20] + suffix)
        if not out.exists():
            with tempfile.TemporaryDirectory(dir=cache) as work:
                for name, text in sources.items():
                    (Path(work) / name).write_text(text)
                subprocess.run([*command, *extra, "-o", "out"], cwd=work, check=True)
                os.replace(Path(work) / "out", out)
        return out

    names = [name for name in sources if name.endswith(".cpp")]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(lambda name: once(".o", reached(name), "-c", name), names))
    return Core(once(".so", sorted(o.name for o in objects), "-shared", *map(str, objects)))


@functools.cache
def core() -> Core:
    return build()


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    if not array.flags.c_contiguous:
        raise ValueError("a tile must be contiguous")
    return ctypes.c_void_p(array.ctypes.data)


class Dest:
    """One slot of DEST: 1024 words and the mark of the rows written."""

    def __init__(self) -> None:
        self.word = np.zeros(1024, np.uint32)
        self.rows = np.zeros(1, np.uint64)

    def args(self) -> tuple[ctypes.c_void_p, ctypes.c_void_p]:
        return _pointer(self.word), _pointer(self.rows)


class Core:
    def __init__(self, library: Path) -> None:
        self.lib = ctypes.CDLL(str(library))
        self.lib.t_sfpu.argtypes = [
            ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_float,
            ctypes.c_int,
        ]  # fmt: skip

    def tile_bytes(self, fmt: Format) -> int:
        return self.lib.t_tile_bytes(fmt)

    def src_format(self, cb: Format, wide: bool) -> Format:
        return Format(self.lib.t_src_format(cb, wide))

    def unpack(self, data: np.ndarray, cb: Format, wide: bool) -> np.ndarray:
        out = np.empty(1024, np.uint32)
        self.lib.t_unpack(_pointer(out), _pointer(data), cb, self.src_format(cb, wide))
        return out

    def unpack_to_dest(self, dest: Dest, data: np.ndarray) -> None:
        self.lib.t_unpack_to_dest(*dest.args(), _pointer(data))

    def pack(
        self, dest: Dest, wide: bool, out: Format, mask: int = 0, precise: bool = False, onto: np.ndarray | None = None
    ) -> np.ndarray:
        data = np.zeros(self.tile_bytes(out), np.uint8) if onto is None else onto.copy()
        via = self.lib.t_pack_format(out, wide, precise)
        self.lib.t_pack(_pointer(data), _pointer(dest.word), wide, via, out, mask, onto is not None)
        return data

    def first_poisoned(self, data: np.ndarray, cb: Format) -> int:
        return self.lib.t_first_poisoned(_pointer(data), cb)

    def matmul(self, dest: Dest, in0: np.ndarray, in1: np.ndarray, fidelity: int, wide: bool) -> None:
        self.lib.t_matmul(*dest.args(), _pointer(in0), _pointer(in1), fidelity, wide)

    def binary(
        self, op: int, dest: Dest, a: np.ndarray, b: np.ndarray, wide: bool, fidelity: int = 4, broadcast: int = 0,
        accumulate: bool = False,
    ) -> None:  # fmt: skip
        self.lib.t_binary(op, *dest.args(), _pointer(a), _pointer(b), broadcast, fidelity, wide, accumulate)

    def binary_reuse(
        self, op: int, dest: Dest, other: np.ndarray, fmt: Format, reuse: int, wide: bool, fidelity: int = 4
    ) -> None:
        self.lib.t_binary_reuse(op, *dest.args(), _pointer(other), fmt, reuse, fidelity, wide)

    def reduce(
        self, pool: int, dim: int, dest: Dest, x: np.ndarray, scaler: np.ndarray, fmt: Format, wide: bool,
        fidelity: int = 4,
    ) -> None:  # fmt: skip
        self.lib.t_reduce(pool, dim, *dest.args(), _pointer(x), _pointer(scaler), fmt, fidelity, wide)

    def copy(self, dest: Dest, a: np.ndarray, fmt: Format, wide: bool, broadcast: int = 0) -> None:
        self.lib.t_copy(*dest.args(), _pointer(a), fmt, wide, broadcast)

    def transpose(self, words: np.ndarray) -> None:
        self.lib.t_transpose(_pointer(words))

    def sfpu(self, op: str, dest: Dest, wide: bool, approx: int = 0, scalar: float = 1.0, span: int = 2) -> None:
        self.lib.t_sfpu(op.encode(), *dest.args(), wide, approx, scalar, span)

    def sfpu_binary(self, op: int, dest: Dest, other: Dest, wide: bool) -> None:
        self.lib.t_sfpu_binary(op, *dest.args(), _pointer(other.word), wide)

    def sfpu_reduce(self, pool: int, dim: int, dest: Dest, wide: bool) -> None:
        self.lib.t_sfpu_reduce(pool, dim, *dest.args(), wide)

    def mad(self, a: np.ndarray, b: np.ndarray, c: np.ndarray, integers: bool) -> np.ndarray:
        out = np.empty_like(a)
        self.lib.t_mad(_pointer(out), _pointer(a), _pointer(b), _pointer(c), len(a), integers)
        return out

    def typecast(self, dest: Dest, wide: bool, source: Format, target: Format) -> None:
        self.lib.t_typecast(*dest.args(), wide, source, target)
