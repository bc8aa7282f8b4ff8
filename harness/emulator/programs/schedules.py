"""A program under many schedules: what may come in any order must give one result."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch

from harness.emulator.programs.faults import KernelFault
from harness.emulator.programs.op import programs_of
from harness.emulator.ttnn.device import Device


def check_schedules(device: Device, run: Callable[[], torch.Tensor], seeds: Iterable[int]) -> torch.Tensor:
    """``run()``'s result in the strict order, after running it under every seed too. ``run`` sets its inputs up anew
    each time. Raises KernelFault("race") when a result differs, with the first seed and value that do."""
    programs = programs_of(device)
    before = programs.schedule_seed
    try:
        programs.schedule_seed = 0
        want = run()
        for seed in seeds:
            programs.schedule_seed = seed
            got = run()
            # Bits, so that a NaN equals itself.
            different = (got.contiguous().view(torch.uint8) != want.contiguous().view(torch.uint8)).nonzero()
            if len(different):
                where = int(different[0][-1]) // want.element_size() if want.dim() else 0
                row = [int(i) for i in different[0][:-1]]
                raise KernelFault("race", f"the result changes with the order: value {[*row, where]} under seed {seed}")
    finally:
        programs.schedule_seed = before
    return want
