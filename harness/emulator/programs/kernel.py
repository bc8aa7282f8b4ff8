"""Compiling a kernel: an ordinary tt-metal source against the emulator's headers, as the device's compiler would."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from harness.emulator import toolchain
from harness.emulator.numerics.config import MathFidelity
from harness.emulator.programs.descriptors import ComputeConfigDescriptor, KernelDescriptor
from harness.emulator.programs.faults import KernelFault, Location
from harness.emulator.programs.hygiene import check_globals, check_includes, check_symbols, project_files

ROLES = {"RISCV_0": 0, "RISCV_1": 1, "unpack": 2, "math": 3, "pack": 4}
TRISC = ("unpack", "math", "pack")
# Machine and tests agree on tile bytes through these, by tt-metal's number of the format.
TILE_BYTES = {0: 4096, 5: 2048, 6: 1088, 7: 576, 8: 4096, 9: 2048, 24: 4096}

COMPILE = [
    "-std=c++17",
    "-O1",
    "-gdwarf-4",  # addr2line of binutils 2.40 mistakes the files of version 5
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics",
    "-fno-optimize-sibling-calls",
    "-fno-stack-protector",
    # Loads and stores become calls of the machine, which checks them.
    "-fsanitize=thread",
    "-Wall",
    "-Wno-unused-variable",
    "-Wno-unused-function",
    "-Wno-int-to-pointer-cast",
]
GCC = [
    "-fpermissive",  # a pointer cast to 32 bits is legal on the device; what else this lets pass is refused below
    "--param=tsan-distinguish-volatile=1",
    "--param=tsan-instrument-func-entry-exit=0",
    "--param=min-pagesize=0",
]
CLANG = ["-fms-extensions", "-Wno-int-to-void-pointer-cast", "-mllvm", "-tsan-distinguish-volatile"]
LINK = ["-shared", "-nostdlib", "-Wl,--wrap=memcpy,--wrap=memset,--wrap=memmove"]
# Warnings that the device's build does not turn into errors either, and casts of a pointer to 32 bits.
TOLERATED = (
    *("deprecated", "multistatement", "parentheses", "unused-but-set"),
    *("loses precision", "loses information", "to smaller integer type"),
)
DIAGNOSTIC = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):\d+: (?P<kind>warning|error|fatal error): (?P<text>.*)$", re.M
)


@dataclass(frozen=True)
class CompiledKernel:
    """A kernel ready to be loaded: a shared object for each RISC that runs it."""

    name: str
    objects: Mapping[str, Path]  # by thread: RISCV_0, RISCV_1, unpack, math, pack
    source: Path


def compile_kernel(kernel: KernelDescriptor, formats: Mapping[int, int]) -> CompiledKernel:
    """Compile ``kernel`` for its RISC or its three compute threads. ``formats``: tt-metal's format number of each
    circular buffer index on the kernel's cores. Raises KernelFault with the first error, at the kernel's line."""
    source = _source_file(kernel)
    files = project_files(source, [source.parent, *map(Path, kernel.compiler_include_paths)])
    check_includes(files)
    if isinstance(kernel.config, ComputeConfigDescriptor):
        roles: Sequence[str] = TRISC
    else:
        roles = (kernel.config.processor.name,)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        paths = list(pool.map(lambda role: _compile(kernel, source, files, role, formats), roles))
    objects = dict(zip(roles, paths, strict=True))
    return CompiledKernel(source.name, objects, source)


def _source_file(kernel: KernelDescriptor) -> Path:
    if kernel.source_type is KernelDescriptor.SourceType.FILE_PATH:
        path = Path(kernel.kernel_source)
        if not path.is_file():
            raise KernelFault("no-source", f"there is no kernel source {kernel.kernel_source}")
        return path.resolve()
    key = toolchain.digest([kernel.kernel_source])

    def write(path: Path) -> None:
        path.write_text(kernel.kernel_source)

    return toolchain.build(f"inline_{key[:8]}.cpp", key, write)


def _compile(
    kernel: KernelDescriptor, source: Path, files: Mapping[Path, str], role: str, formats: Mapping[int, int]
) -> Path:
    """The shared object of the kernel for one RISC, from the cache or newly compiled."""
    compiler, version = toolchain.compiler()
    flags = [*COMPILE, *(CLANG if toolchain.is_clang() else GCC), "-I", str(toolchain.NATIVE / "include")]
    flags += [f"-I{p}" for p in (source.parent, *kernel.compiler_include_paths)]
    text = _unit_text(kernel, source, role, formats)
    key = toolchain.digest([version, *flags, *LINK, text, toolchain.headers_digest(), *files.values()])

    def make(out: Path) -> None:
        unit, object_file = out.with_name("unit.cpp"), out.with_name("kernel.o")
        unit.write_text(text)
        command = [compiler, *flags, "-c", str(unit), "-o", str(object_file)]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
        _judge(done.stderr, done.returncode, source)
        check_symbols(object_file, source)
        check_globals(object_file, source)
        subprocess.run([compiler, *LINK, str(object_file), "-o", str(out)], check=True, capture_output=True)

    return toolchain.build("kernel.so", key, make)


def _unit_text(kernel: KernelDescriptor, source: Path, role: str, formats: Mapping[int, int]) -> str:
    lines = [f"#define {name} {value}" for name, value in kernel.defines]
    table = [formats.get(i, 255) for i in range(64)]
    sizes = [TILE_BYTES.get(f, 0) for f in table]
    lines += [
        "#define ARCH_BLACKHOLE 1",
        "#define KERNEL_BUILD 1",
        f"#define LB_CB_FORMATS {','.join(map(str, table))}",
        f"#define LB_CB_TILE_BYTES {','.join(map(str, sizes))}",
        f"#define KERNEL_COMPILE_TIME_ARGS {','.join(f'{v}u' for v in kernel.compile_time_args)}",
    ]
    if kernel.named_compile_time_args:
        pairs = ",".join(f'{{"{name}",{value}u}}' for name, value in kernel.named_compile_time_args)
        lines.append(f"#define KERNEL_COMPILE_TIME_ARG_MAP {pairs}")
    if isinstance(kernel.config, ComputeConfigDescriptor):
        c = kernel.config
        fidelity = MathFidelity.HiFi4 if c.math_fidelity is MathFidelity.Invalid else c.math_fidelity
        lines += [
            f"#define TRISC_{role.upper()} 1",
            f"#define COMPILE_FOR_TRISC {TRISC.index(role)}",
            f"#define LB_MATH_FIDELITY {fidelity.value}",
            f"#define LB_MATH_APPROX {str(c.math_approx_mode).lower()}",
            f"#define LB_FP32_DEST {str(c.fp32_dest_acc_en).lower()}",
            '#include "api/compute/common_globals.h"',
        ]
    else:
        which = {"RISCV_0": "COMPILE_FOR_BRISC", "RISCV_1": "COMPILE_FOR_NCRISC"}[role]
        lines += [f"#define {which} 1", f"#define NOC_INDEX {kernel.config.noc.value}", '#include "lb/kernel.h"']
    # Not inlined, so that its lines are told apart from the entry's.
    lines += [
        "[[gnu::noinline]] void kernel_main();",
        f'#include "{source}"',
        'extern "C" [[gnu::visibility("default")]] void lb_kernel_entry() { kernel_main(); }',
        "",
    ]
    return "\n".join(lines)


def _judge(output: str, code: int, source: Path) -> None:
    for found in DIAGNOSTIC.finditer(output):
        text, kind = found["text"], found["kind"]
        if kind == "warning" and any(t in text for t in TOLERATED):
            continue
        raise KernelFault("compile-error", _explain(text), Location(Path(found["file"]), int(found["line"])))
    if code:
        raise KernelFault("compile-error", output.strip()[:2000], Location(source, 1))


def _explain(text: str) -> str:
    """A compiler's message; for a name the emulator does not have, that it is not modelled."""
    missing = re.search(
        r"'([^']+)' was not declared|use of undeclared identifier '([^']+)'|'([^']+)' is not a member"
        r"|([\w/.+-]+): No such file|'([^']+)' file not found|there are no arguments to '([^']+)'",
        text,
    )
    if not missing:
        return re.sub(r" \[-f?W?[\w=+-]+\]$", "", text)
    name = next(g for g in missing.groups() if g)
    return f"{name} is not modelled by the emulator (see docs/emulator.md), or misspelt: {text}"
