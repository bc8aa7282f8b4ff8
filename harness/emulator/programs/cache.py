"""The program cache, with the key and the patching of ttnn 0.81.1's generic_op (observed on the real one).

In the key of a program: per kernel its source (the path or the text, not what a path's file holds now), cores,
compile-time arguments by position and by name, defines, configuration, and how many cores and common words have runtime
arguments; per circular buffer its bytes, cores and formats; per semaphore its cores and initial value, but not its id.
A ``custom_program_hash`` replaces all of that. On a hit the cached program runs, with the words of the new runtime
arguments written over the cached ones: a shorter list leaves the old tail in place.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace

from harness.emulator.programs.descriptors import (
    CBDescriptor,
    ComputeConfigDescriptor,
    KernelDescriptor,
    ProgramDescriptor,
    SemaphoreDescriptor,
)
from harness.emulator.programs.launch import KernelArgs, PlacedProgram
from harness.emulator.ttnn.types import CoreCoord


def program_key(program: ProgramDescriptor) -> Hashable:
    """What two programs must agree in to share an entry."""
    if program.custom_program_hash is not None:
        return program.custom_program_hash
    return (
        tuple(_kernel_key(k) for k in program.kernels),
        tuple(_cb_key(c) for c in program.cbs),
        tuple(_semaphore_key(s) for s in program.semaphores),
    )


def _kernel_key(k: KernelDescriptor) -> Hashable:
    c = k.config
    config: Hashable
    if isinstance(c, ComputeConfigDescriptor):
        config = (
            c.math_fidelity,
            c.math_approx_mode,
            c.fp32_dest_acc_en,
            c.dst_full_sync_en,
            c.bfp8_pack_precise,
            tuple(c.unpack_to_dest_mode),
        )
    else:
        config = (c.processor, c.noc, c.noc_mode)
    return (
        k.kernel_source,
        k.source_type,
        k.core_ranges,
        tuple(k.compile_time_args),
        tuple(k.named_compile_time_args),
        tuple(k.defines),
        len(k.common_runtime_args),
        len(k.runtime_args),
        config,
    )


def _cb_key(cb: CBDescriptor) -> Hashable:
    formats = tuple((f.buffer_index, f.data_format, f.page_size) for f in cb.format_descriptors)
    return cb.total_size, cb.core_ranges, formats


def _semaphore_key(s: SemaphoreDescriptor) -> Hashable:
    return s.core_type, s.core_ranges, s.initial_value


@dataclass
class ProgramCache:
    """Programs by key. Disabled, every run is a miss."""

    enabled: bool = True

    def __post_init__(self) -> None:
        self._entries: dict[Hashable, PlacedProgram] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def clear(self) -> None:
        """Forget all programs."""
        self._entries.clear()

    def get(self, program: ProgramDescriptor, place: Callable[[ProgramDescriptor], PlacedProgram]) -> PlacedProgram:
        """The program to run: on a miss ``place(program)``, on a hit the cached one with new runtime arguments. Raises
        RuntimeError when a list of arguments is longer than the cached one."""
        if not self.enabled:
            return place(program)
        key = program_key(program)
        cached = self._entries.get(key)
        if cached is None:
            cached = self._entries[key] = place(program)
            return cached
        if len(cached.args) != len(program.kernels):
            raise RuntimeError(f"the cached program has {len(cached.args)} kernels, the new one {len(program.kernels)}")
        args = [_patched(old, kernel) for old, kernel in zip(cached.args, program.kernels, strict=True)]
        cached = self._entries[key] = replace(cached, args=args)
        return cached


def _patched(old: KernelArgs, kernel: KernelDescriptor) -> KernelArgs:
    by_core: dict[CoreCoord, list[int]] = dict(old.by_core)
    for core, words in kernel.runtime_args:
        by_core[core] = _overwritten(by_core.get(core, []), words)
    return KernelArgs(by_core, _overwritten(old.common, kernel.common_runtime_args))


def _overwritten(old: list[int], new: list[int]) -> list[int]:
    if len(new) > len(old):
        raise RuntimeError(
            f"Index {len(old)} is larger than runtime args size {len(old)}: the cached program has fewer arguments"
        )
    return [*new, *old[len(new) :]]
