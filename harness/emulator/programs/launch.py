"""Running a program: where things lie in L1, what the machine is told, and what comes back."""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.emulator import toolchain
from harness.emulator.memory import L1_BYTES, Buffer, align
from harness.emulator.programs.counts import ProgramCounts
from harness.emulator.programs.descriptors import (
    NOC_MODE,
    CBDescriptor,
    ComputeConfigDescriptor,
    KernelDescriptor,
    ProgramDescriptor,
    UnpackToDestMode,
)
from harness.emulator.programs.faults import KernelFault, from_report
from harness.emulator.programs.kernel import ROLES, CompiledKernel, compile_kernel
from harness.emulator.programs.l1 import l1_maps
from harness.emulator.ttnn.types import CoreCoord

if TYPE_CHECKING:
    from harness.emulator.ttnn.device import Device

CB_ALIGNMENT = 64
MAX_CBS, MAX_SEMAPHORES, MAX_ARGS = 64, 16, 256
TIME_LIMIT = 120  # seconds of CPU time; a program that takes longer is taken for one without end


@dataclass
class Settings:
    """How programs run.

    schedule_seed   0: the strict order, everything as late as it may be; others permute what may come in any order
    time_limit      seconds of CPU time after which a program counts as endless
    constants       of virtual time, by name, where they differ from the machine's table (``machine_constants``)
    timeline        keep what each thread did when
    """

    schedule_seed: int = 0
    time_limit: int = TIME_LIMIT
    constants: Mapping[str, float] = field(default_factory=dict)
    timeline: bool = False


@dataclass(frozen=True)
class KernelArgs:
    """A kernel's runtime arguments: by core, and common to all."""

    by_core: Mapping[CoreCoord, list[int]]
    common: list[int]


@dataclass(frozen=True)
class PlacedProgram:
    """A program with its kernels compiled and its circular buffers placed. ``args``: what its kernels run with."""

    program: ProgramDescriptor
    kernels: Sequence[CompiledKernel]
    cb_addresses: Sequence[int]
    args: Sequence[KernelArgs]
    l1_end: int  # first byte above the circular buffers, on the core where they reach highest


@dataclass(frozen=True)
class Run:
    """What a run gave: counts, and the buffers that it wrote."""

    counts: ProgramCounts
    written: Sequence[Buffer]


def place(program: ProgramDescriptor, device: Device) -> PlacedProgram:
    """Check ``program`` against the device, compile its kernels, place its circular buffers. Raises KernelFault."""
    _check(program, device)
    addresses = _place_cbs(program.cbs, device.l1.base)
    ends = [address + cb.total_size for address, cb in zip(addresses, program.cbs, strict=True)]
    with ThreadPoolExecutor() as pool:
        formats = [_formats_on(program.cbs, kernel) for kernel in program.kernels]
        kernels = list(pool.map(compile_kernel, program.kernels, formats))
    args = [KernelArgs(dict(k.runtime_args), list(k.common_runtime_args)) for k in program.kernels]
    return PlacedProgram(program, kernels, addresses, args, max(ends, default=0))


def live_buffers(device: Device) -> list[Buffer]:
    """The tensors' buffers that a program launched now may use. One that a trace replays uses those of its capture."""
    return [*device.dram.live.values(), *device.l1.live.values()]


def run(placed: PlacedProgram, device: Device, buffers: Sequence[Buffer], settings: Settings) -> Run:
    """Run a placed program in a worker process. ``buffers``: what it may use. Raises KernelFault for what is wrong."""
    tensors = [b.address for b in buffers if b.memory is device.l1]
    _check_l1(placed, tensors)
    job, time_limit = _job(placed, device, buffers, settings), settings.time_limit
    fds = (device.dram.fd, device.l1.fd)
    try:
        done = subprocess.run(
            [toolchain.machine()], input=job, capture_output=True, text=True, pass_fds=fds, timeout=10 * time_limit
        )
    except subprocess.TimeoutExpired:  # the machine counts its own CPU time; this is for one that gets none
        raise KernelFault("infinite-loop", f"the program has not ended within {10 * time_limit} s") from None
    if done.returncode < 0:
        raise KernelFault("crash", f"the worker process was ended by signal {-done.returncode} (out of memory?)")
    if done.returncode or not done.stdout:
        raise KernelFault("crash", f"the worker process failed: {done.stderr.strip()[:1000]}")
    report = json.loads(done.stdout)
    if report["status"] == "fault":
        raise from_report(report)
    written = [b for b in buffers if b.address in report["written"]["l1" if b.memory is device.l1 else "dram"]]
    maps = l1_maps(placed.program, placed.cb_addresses, device.l1.base, min([L1_BYTES, *tensors]))
    return Run(ProgramCounts.of_report(report, maps), written)


def _check(program: ProgramDescriptor, device: Device) -> None:
    grid = device.grid
    taken: dict[tuple[CoreCoord, str], int] = {}
    for i, kernel in enumerate(program.kernels):
        config = kernel.config
        compute = isinstance(config, ComputeConfigDescriptor)
        if not compute and config.noc_mode is not NOC_MODE.DM_DEDICATED_NOC:  # type: ignore[union-attr]
            raise KernelFault("not-modelled", f"kernel {i}: NOC_MODE.DM_DYNAMIC_NOC is not modelled by the emulator")
        if kernel.core_ranges.empty():
            raise KernelFault("bad-program", f"kernel {i} has no cores")
        # Two kernels on one NoC of a core hang the device: neither's barriers count what the other sends.
        claims = ["compute"] if compute else [config.processor.name, f"NoC {config.noc.value}"]  # type: ignore[union-attr]
        for core in kernel.core_ranges:
            if core.x >= grid.x or core.y >= grid.y:
                raise KernelFault("bad-program", f"kernel {i}: core {core} is outside the grid of {grid.x}x{grid.y}")
            for claim in claims:
                if (core, claim) in taken:
                    raise KernelFault(
                        "bad-program", f"kernels {taken[core, claim]} and {i} both run on {claim} of core {core}"
                    )
                taken[core, claim] = i
        for core, values in kernel.runtime_args:
            if not kernel.core_ranges.contains(core):
                raise KernelFault("bad-program", f"kernel {i} has runtime args for core {core}, where it does not run")
            if len(values) > MAX_ARGS:
                raise KernelFault("bad-program", f"kernel {i}: {len(values)} runtime args, at most {MAX_ARGS} fit")
    for semaphore in program.semaphores:
        if not 0 <= semaphore.id < MAX_SEMAPHORES:
            raise KernelFault(
                "semaphore-missing", f"semaphore id {semaphore.id}: ids go from 0 to {MAX_SEMAPHORES - 1}"
            )


def _check_l1(placed: PlacedProgram, tensors: Sequence[int]) -> None:
    limit = min([L1_BYTES, *tensors])
    if placed.l1_end > limit:
        what = "the end of L1" if limit == L1_BYTES else "L1 tensors"
        raise KernelFault(
            "l1-overflow", f"the circular buffers grow to {placed.l1_end} B and clash with {what} at {limit} B"
        )


def _place_cbs(cbs: Sequence[CBDescriptor], base: int) -> list[int]:
    """As tt-metal: in order, each above the ones before it on any of its cores."""
    ends: defaultdict[CoreCoord, int] = defaultdict(lambda: base)
    used: dict[tuple[CoreCoord, int], int] = {}
    addresses = []
    for i, cb in enumerate(cbs):
        for f in cb.format_descriptors:
            if not 0 <= f.buffer_index < MAX_CBS:
                raise KernelFault(
                    "bad-program", f"circular buffer index {f.buffer_index}: they go from 0 to {MAX_CBS - 1}"
                )
            if f.page_size <= 0 or cb.total_size % f.page_size:
                raise KernelFault(
                    "page-size",
                    f"cb {f.buffer_index}: {cb.total_size} B are no whole number of pages of {f.page_size} B",
                )
            for core in cb.core_ranges:
                if (core, f.buffer_index) in used:
                    raise KernelFault("bad-program", f"two circular buffers have index {f.buffer_index} on core {core}")
                used[core, f.buffer_index] = i
        start = align(max([ends[core] for core in cb.core_ranges], default=base), CB_ALIGNMENT)
        for core in cb.core_ranges:
            ends[core] = start + cb.total_size
        addresses.append(start)
    return addresses


def _formats_on(cbs: Sequence[CBDescriptor], kernel: KernelDescriptor) -> dict[int, int]:
    cores = set(kernel.core_ranges)
    return {
        f.buffer_index: f.data_format_as_uint8
        for cb in cbs
        if not cores.isdisjoint(cb.core_ranges)
        for f in cb.format_descriptors
    }


def _job(placed: PlacedProgram, device: Device, buffers: Sequence[Buffer], settings: Settings) -> str:
    """The machine's input (native/machine/job.cpp)."""
    program, grid = placed.program, device.grid
    dram, l1 = device.dram, device.l1
    limits = f"{settings.schedule_seed} {settings.time_limit}"
    lines = [f"machine {grid.x} {grid.y} {dram.n_banks} {dram.bank_bytes} {dram.fd} {l1.fd} {limits}"]
    lines += [f"chip {name} {value!r}" for name, value in settings.constants.items()]
    lines += ["timeline"] * settings.timeline
    lines += [
        f"buffer {'l1' if b.memory is l1 else 'dram'} {b.address} {b.page_bytes} {b.stride} {b.n_pages}"
        for b in buffers
    ]

    def index(core: CoreCoord) -> int:
        return core.y * grid.x + core.x

    def cores(ranges: Sequence[CoreCoord]) -> str:
        return f"cores {len(ranges)} " + " ".join(str(index(c)) for c in ranges)

    for cb, address in zip(program.cbs, placed.cb_addresses, strict=True):
        lines.append(cores(list(cb.core_ranges)))
        lines += [
            f"cb {f.buffer_index} {address} {cb.total_size} {f.page_size} {f.data_format_as_uint8}"
            for f in cb.format_descriptors
        ]
    for semaphore in program.semaphores:
        lines.append(cores(list(semaphore.core_ranges)))
        lines.append(f"semaphore {semaphore.id} {semaphore.initial_value}")

    number = 0
    for kernel, compiled, args in zip(program.kernels, placed.kernels, placed.args, strict=True):
        first = kernel.core_ranges.bounding_box().start
        for role, path in compiled.objects.items():
            lines.append(f"kernel {path} {ROLES[role]} {_config_words(kernel)} {compiled.name}")
            for core in kernel.core_ranges:
                own = args.by_core.get(core, [])
                words = [number, index(core), first.x, first.y, len(own), *own, len(args.common), *args.common]
                lines.append("run " + " ".join(map(str, words)))
            number += 1
    return "\n".join(lines) + "\n"


def _config_words(kernel: KernelDescriptor) -> str:
    c = kernel.config
    if not isinstance(c, ComputeConfigDescriptor):
        return f"{c.noc.value} 0 0 0 0"
    to_dest = sum(1 << i for i, m in enumerate(c.unpack_to_dest_mode) if m is UnpackToDestMode.UnpackToDestFp32)
    return f"0 {int(c.fp32_dest_acc_en)} {int(c.dst_full_sync_en)} {int(c.bfp8_pack_precise)} {to_dest}"
