"""Good programs on the emulator: right, never flagged, the same in every legal order, and counted to the byte."""

from __future__ import annotations

from collections import Counter

import pytest
import torch

from harness.emulator.programs import programs_of
from tests.emulator import good
from tests.emulator.build import Builder
from tests.emulator.good import GOOD
from tests.emulator.references import BOUNDS, DEFAULT_BOUND, REFERENCES, relative_error

SEEDS = 50


@pytest.mark.parametrize("name", GOOD)
def test_good_program_is_right(builder: Builder, name: str) -> None:
    got, want = GOOD[name](builder), REFERENCES[name]()
    assert relative_error(got, want) < BOUNDS.get(name, DEFAULT_BOUND)


@pytest.mark.parametrize("name", GOOD)
def test_good_program_is_the_same_in_every_order(builder: Builder, name: str) -> None:
    programs = programs_of(builder.device)
    want = GOOD[name](builder)
    for seed in range(1, SEEDS + 1):
        programs.schedule_seed = seed
        assert torch.equal(GOOD[name](builder), want), f"schedule seed {seed}"


def test_counts_of_a_copy(builder: Builder) -> None:
    good.copy(builder, block=2, cores=2)
    counts = programs_of(builder.device).counts[-1]
    total = counts.total
    # 8 tiles of 2048 B, two at a time on two cores; the writer flushes each block and has one barrier.
    assert (total.dram_reads, total.dram_read_bytes) == (8, 8 * 2048)
    assert (total.dram_writes, total.dram_write_bytes) == (8, 8 * 2048)
    assert (total.read_barriers, total.write_barriers) == (4, 2)
    assert total.most_reads_in_flight == 2
    assert set(counts.cores) == {(0, 0), (1, 0)}
    assert counts.cores[0, 0].dram_read_bytes == 4 * 2048


def test_counts_of_a_matmul(builder: Builder) -> None:
    good.matmul(builder, "bfloat8_b", math_fidelity=builder.ttnn.MathFidelity.HiFi2)
    total = programs_of(builder.device).counts[-1].total
    assert total.dram_read_bytes == 8 * 2048 + 8 * 1088
    assert total.tile_ops == Counter({"matmul bf16 x bfp8 HiFi2": 2 * 2 * 4, "pack bf16": 4})
    assert total.cb_high_water == {0: 8, 1: 8, 2: 4}


def test_counts_of_a_multicast(builder: Builder) -> None:
    good.multicast(builder, columns=3, rows=2)
    counts = programs_of(builder.device).counts[-1]
    sender = counts.cores[0, 0]
    # Every tile once, and its flag of 4 B; the five receivers announce room for each.
    assert (sender.multicasts, sender.multicast_bytes) == (2 * 8, 8 * (2048 + 4))
    assert counts.total.atomics == 5 * 8
    assert counts.total.dram_reads == 8


def test_counts_of_l1_reads(builder: Builder) -> None:
    good.ring(builder, cores=4)
    total = programs_of(builder.device).counts[-1].total
    assert (total.l1_reads, total.l1_read_bytes) == (4, 4 * 2048)


def test_cores_next_to_the_banks_stand_in_their_rows(builder: Builder) -> None:
    # Those of the real ttnn 0.81.1 on the functional simulator.
    t, device = builder.ttnn, builder.device
    near = device.get_optimal_dram_bank_to_logical_worker_assignment(t.NOC.NOC_0)
    assert [(c.x, c.y) for c in near] == [(0, 9), (0, 0), (0, 7), (0, 3), (7, 9), (7, 1), (7, 6), (7, 4)]
    near = device.get_optimal_dram_bank_to_logical_worker_assignment(t.NOC.NOC_1)
    assert [(c.x, c.y) for c in near] == [(0, 0), (0, 8), (0, 2), (0, 5), (7, 0), (7, 8), (7, 2), (7, 5)]


def test_both_grids(builder: Builder) -> None:
    """The last column of each grid has its own NoC coordinates."""
    t = builder.ttnn
    for grid in ((11, 10), (13, 10)):
        device = t.Device(grid)
        last = t.CoreCoord(grid[0] - 1, grid[1] - 1)
        x = device.worker_core_from_logical_core(last)
        assert (x.x, x.y) == (grid[0] + 2, 11)
        assert torch.equal(good.multicast(Builder(t, device), *grid)[0, 0], good.values(7)[0, 0])
        t.close_device(device)
