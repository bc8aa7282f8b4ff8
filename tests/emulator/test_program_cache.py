"""The program cache: what shares an entry, and what a hit brings up to date, as the real one was seen to do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from harness.emulator.programs import programs_of
from tests.emulator.build import Builder

SOURCE = """
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    constexpr auto args = TensorAccessorArgs<1>();
    const auto out = TensorAccessor(args, get_common_arg_val<uint32_t>(0), 4096);
    volatile tt_l1_ptr uint32_t* page = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_write_ptr(0));
    for (uint32_t i = 0; i < 1024; ++i) page[i] = 0;
    page[0] = get_arg_val<uint32_t>(0);
    page[1] = get_arg_val<uint32_t>(1);
    page[2] = get_compile_time_arg_val(0);
    page[3] = MARK;
    noc_async_write_page(0, out, get_write_ptr(0));
    noc_async_write_barrier();
}
"""


class Cached:
    """Runs the kernel above. Returns its runtime arguments, compile-time argument and mark as it saw them."""

    def __init__(self, builder: Builder, path: Path) -> None:
        self.b, self.path = builder, path
        self.out = builder.empty((1, 1, 32, 32), "uint32")

    def __call__(
        self,
        runtime: Sequence[int] = (1, 2),
        compile_time: int = 7,
        mark: int = 1,
        semaphore: int = 0,
        custom: int | None = None,
    ) -> list[int]:
        b, t = self.b, self.b.ttnn
        self.path.write_text(SOURCE.replace("MARK", str(mark)))
        cores = b.grid(1)
        kernel = b.kernel(self.path, "reader", cores, [compile_time, *b.accessors(self.out)], lambda x, y: runtime,
                          [self.out.buffer_address()])  # fmt: skip
        program: Any = b.program([kernel], [b.cb(0, cores, 1, "uint32")], [(semaphore, cores, 5)])
        if custom is not None:
            program.custom_program_hash = custom
        zero = b.tensor(torch.zeros(1, 1, 32, 32, dtype=torch.int32), "uint32")
        t.generic_op([zero, self.out], program)
        return [int(v) for v in t.to_torch(self.out)[0, 0, 0, :4]]

    def entries(self) -> int:
        return len(programs_of(self.b.device).cache)


@pytest.fixture
def cached(builder: Builder, tmp_path: Path) -> Cached:
    return Cached(builder, tmp_path / "kernel.cpp")


def test_runtime_args_are_brought_up_to_date(cached: Cached) -> None:
    assert cached(runtime=(1, 2)) == [1, 2, 7, 1]
    assert cached(runtime=(3, 4)) == [3, 4, 7, 1]
    assert cached.entries() == 1


def test_the_tail_of_a_shorter_list_is_stale(cached: Cached) -> None:
    cached(runtime=(1, 2))
    assert cached(runtime=(9,)) == [9, 2, 7, 1]


def test_a_longer_list_is_refused(cached: Cached) -> None:
    cached(runtime=(1, 2))
    with pytest.raises(RuntimeError, match="larger than runtime args size 2"):
        cached(runtime=(1, 2, 3))


def test_compile_time_args_are_in_the_key(cached: Cached) -> None:
    cached()
    assert cached(compile_time=8) == [1, 2, 8, 1]
    assert cached.entries() == 2


def test_a_changed_source_file_is_not_noticed(cached: Cached) -> None:
    cached(mark=1)
    assert cached(mark=2) == [1, 2, 7, 1]
    programs_of(cached.b.device).cache.clear()
    assert cached(mark=2) == [1, 2, 7, 2]


def test_the_id_of_a_semaphore_is_not_in_the_key(cached: Cached) -> None:
    cached(semaphore=0)
    cached(semaphore=1)
    assert cached.entries() == 1


def test_a_custom_hash_replaces_the_key(cached: Cached) -> None:
    cached(custom=1234)
    assert cached(custom=1234, compile_time=9) == [1, 2, 7, 1]
