"""Schedule seeds: each is a legal order, always the same one, and a result that depends on it is found."""

from __future__ import annotations

import pytest
import torch

from harness.emulator.programs import KernelFault, check_schedules, programs_of
from tests.emulator import good
from tests.emulator.build import Builder


def unordered(b: Builder) -> torch.Tensor:
    """A tile that ends where the order of two threads puts it."""
    a, cores = b.tensor(good.values(1)), b.grid(1)
    out = b.tensor(torch.zeros(1, 1, 32, 64).bfloat16())
    kernels = [
        b.kernel("reader.cpp", "reader", cores, [1, 1, *b.accessors(a)], lambda x, y: [a.buffer_address(), 0, 0, 1]),
        b.kernel("order.cpp", "writer", cores, b.accessors(out), common=[out.buffer_address()]),
    ]
    return b.run([a, out], b.program(kernels, [b.cb(0, cores)]))


def test_a_result_that_depends_on_the_order_is_a_race(builder: Builder) -> None:
    with pytest.raises(KernelFault, match="changes with the order") as caught:
        check_schedules(builder.device, lambda: unordered(builder), range(1, 51))
    assert caught.value.kind == "race"


def test_a_result_that_does_not_is_returned(builder: Builder) -> None:
    assert torch.equal(check_schedules(builder.device, lambda: good.copy(builder), range(1, 6)), good.values(1))


def test_a_seed_is_one_order(builder: Builder) -> None:
    programs_of(builder.device).schedule_seed = 7
    first = unordered(builder)
    assert all(torch.equal(unordered(builder), first) for _ in range(3))
