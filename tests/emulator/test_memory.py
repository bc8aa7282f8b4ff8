"""DRAM and L1: the allocator's properties, interleaving to the byte, poison, versions."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.emulator import memory
from harness.emulator.memory import FreeList, Memory


@pytest.fixture
def dram() -> Iterator[Memory]:
    mem = memory.dram()
    yield mem
    mem.close()


# A step allocates that many bytes (positive), or frees one of the allocations (negative picks which).
STEPS = st.lists(st.integers(-20, 3000).filter(bool), max_size=60)


@given(STEPS, st.booleans())
def test_allocations_never_overlap_and_merge_back(steps: list[int], top_down: bool) -> None:
    base, end = 100, 40_000
    free_list = FreeList(base, end, 64, top_down)
    whole = free_list.free
    for step in steps:
        used = free_list.used
        if step < 0 and used:
            free_list.release(sorted(used)[-step % len(used)])
        elif step > 0:
            try:
                address = free_list.allocate(step)
            except RuntimeError:
                assert free_list.largest_free < memory.align(step, 64)
                continue
            assert address % 64 == 0
        ranges = sorted((a, a + n) for a, n in free_list.used.items())
        assert all(first[1] <= second[0] for first, second in zip(ranges, ranges[1:], strict=False))
        assert all(base <= lo and hi <= end for lo, hi in ranges)
        assert free_list.free == whole - sum(free_list.used.values())
    for address in free_list.used:
        free_list.release(address)
    assert free_list.largest_free == whole


def test_first_fit_bottom_up_and_top_down() -> None:
    up, down = FreeList(0, 1024, 64), FreeList(0, 1024, 64, top_down=True)
    assert [up.allocate(100), up.allocate(64)] == [0, 128]
    assert [down.allocate(100), down.allocate(64)] == [896, 832]
    up.release(0)
    assert up.allocate(129) == 192, "the hole of 128 bytes is too small"
    assert up.allocate(65) == 0


def test_double_free_and_unknown_addresses_are_errors(dram: Memory) -> None:
    buffer = dram.allocate(1, 2048)
    dram.free(buffer)
    with pytest.raises(RuntimeError, match="freed before"):
        dram.free(buffer)
    with pytest.raises(RuntimeError, match="nothing is allocated"):
        dram.free_list.release(12345)


def test_the_first_addresses_are_those_of_a_fresh_device(dram: Memory) -> None:
    first, second = dram.allocate(1, 2048), dram.allocate(96, 2048)
    assert (first.address, second.address) == (1048704, 1048704 + 2048)
    assert dram.allocate(1, 2048).address == second.address + 12 * 2048
    l1 = memory.l1(130)
    assert [l1.allocate(4, 2048).address for _ in range(2)] == [1570816, 1568768]
    l1.close()


@settings(max_examples=30, deadline=None)
@given(
    pages=st.integers(1, 40),
    page_bytes=st.sampled_from([64, 576, 1088, 2048, 100]),
    seed=st.integers(0, 9),
    data=st.data(),
)
def test_a_page_lies_where_tt_metal_puts_it(pages: int, page_bytes: int, seed: int, data: st.DataObject) -> None:
    mem = memory.dram()
    buffer = mem.allocate(pages, page_bytes)
    first = data.draw(st.integers(0, pages - 1))
    written = torch.randint(0, 255, (pages - first, page_bytes), generator=torch.Generator().manual_seed(seed)).byte()
    buffer.write(written, first=first)
    stride = -(-page_bytes // 64) * 64
    for page in range(pages):
        at = buffer.address + page // 8 * stride
        found = mem.bytes[page % 8, at : at + page_bytes]
        wanted = written[page - first] if page >= first else torch.full((page_bytes,), memory.POISON).byte()
        assert torch.equal(found, wanted)
        assert torch.equal(buffer.read()[page], wanted)
    mem.close()


def test_fresh_and_freed_memory_reads_as_nan(dram: Memory) -> None:
    buffer = dram.allocate(9, 2048)
    assert buffer.read(torch.bfloat16).isnan().all()
    assert buffer.read(torch.float32).isnan().all()
    buffer.write(torch.zeros(9, 1024, dtype=torch.bfloat16))
    dram.free(buffer)
    assert buffer.read(torch.bfloat16).isnan().all()


def test_a_write_by_address_makes_every_overlapping_buffer_a_new_version(dram: Memory) -> None:
    one, two = dram.allocate(8, 2048), dram.allocate(8, 2048)
    before = one.version, two.version
    dram.wrote(one.address + 2047, 1)
    assert one.version != before[0] and two.version == before[1]
    dram.wrote(one.address + 2048, 1)
    assert two.version != before[1]


def test_pages_that_do_not_fit_are_refused(dram: Memory) -> None:
    buffer = dram.allocate(4, 2048)
    with pytest.raises(RuntimeError, match="do not fit"):
        buffer.write(torch.zeros(2, 1024, dtype=torch.bfloat16), first=3)
    with pytest.raises(RuntimeError, match="do not fit"):
        buffer.write(torch.zeros(1, 512, dtype=torch.bfloat16))


def test_native_code_sees_the_same_bytes(dram: Memory) -> None:
    buffer = dram.allocate(2, 64)
    buffer.write(torch.arange(128, dtype=torch.uint8).view(2, 64))
    assert os.pread(dram.fd, 64, 1 * dram.bank_bytes + buffer.address) == bytes(range(64, 128))
