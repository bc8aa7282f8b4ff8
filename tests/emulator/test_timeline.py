"""Timelines: what the threads did adds up to what was counted, and keeping it changes nothing."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import torch

from harness.calibration import twins
from harness.emulator.programs import ProgramCounts, Timeline, programs_of
from tests.emulator import good
from tests.emulator.build import Builder

PROGRAMS = ("matmul", "norm", "multicast", "rounds", "ring")


def kept(b: Builder) -> tuple[ProgramCounts, Timeline]:
    counts = programs_of(b.device).counts[-1]
    assert counts.timeline
    return counts, counts.timeline


@pytest.mark.parametrize("name", PROGRAMS)
def test_waits_are_those_counted_and_keeping_them_changes_no_cycle(builder: Builder, name: str) -> None:
    good.GOOD[name](builder)
    without = programs_of(builder.device).counts[-1]
    assert without.timeline is None
    programs_of(builder.device).timeline = True
    good.GOOD[name](builder)
    counts, timeline = kept(builder)
    assert counts.predicted == without.predicted
    assert timeline.cores.keys() == counts.predicted.cores.keys()
    for core, threads in counts.predicted.cores.items():
        assert timeline.cores[core].keys() == threads.keys()
        for thread, times in threads.items():
            waits, stalls = timeline.cores[core][thread].waits, Counter(times.stalls)
            for wait in waits:
                stalls[wait.why] -= wait.end - wait.begin
                assert wait.at and all(Path(line.file).exists() for line in wait.at), "the kernel's line is known"
            assert not any(stalls.values())
            ends = [0, *(t for w in waits for t in (w.begin, w.end)), times.end]
            assert ends == sorted(ends), "in order, and none after the end"
    good.GOOD[name](builder)
    assert kept(builder)[1] == timeline, "two runs, the same timeline"


def test_waits_name_the_line_and_phases_nest(builder: Builder) -> None:
    n = 6
    b, grid = builder, builder.grid(1)
    programs_of(b.device).timeline = True
    shape = (1, 1, 32, 32 * n)
    a, out = b.tensor(good.values(1, shape)), b.empty(shape)
    kernels = [
        b.kernel("phases.cpp", "reader", grid, b.accessors(a), lambda x, y: [a.buffer_address(), n]),
        b.kernel("writer.cpp", "writer", grid, [0, 1, *b.accessors(out)], lambda x, y: [out.buffer_address(), 0, n]),
    ]
    b.run([a, out], b.program(kernels, [b.cb(0, grid)]))
    counts, timeline = kept(b)
    reader = timeline.cores[0, 0]["RISCV_1"]
    assert Counter(p.name for p in reader.phases) == {"all tiles": 1, "one tile": n, "arrival": n}
    assert reader.phases[0].end == counts.predicted.cores[0, 0]["RISCV_1"].end
    arrivals = [p for p in reader.phases if p.name == "arrival"]
    reads = [w for w in reader.waits if w.why == "read"]
    assert len(reads) == n
    source = (Path(__file__).parent / "kernels" / "phases.cpp").read_text().splitlines()
    for arrival, read in zip(arrivals, reads, strict=True):
        assert arrival.begin <= read.begin and read.end == arrival.end
        assert source[read.at[0].line - 1].strip() == "noc_async_read_barrier();"
    assert not timeline.cores[0, 0]["RISCV_0"].phases


def test_dram_traffic_over_time_is_that_counted(builder: Builder) -> None:
    programs_of(builder.device).timeline = True
    builder.run(*twins.copy(builder, 110, 16, block=8))
    counts, timeline = kept(builder)
    for slots, counted in (
        (timeline.dram_read, counts.total.dram_read_bytes),
        (timeline.dram_written, counts.total.dram_write_bytes),
    ):
        assert sum(slots) == pytest.approx(counted, abs=len(slots))
        assert len(slots) <= counts.predicted.cycles // timeline.slot_cycles + 1
    busiest = max(r + w for r, w in zip(timeline.dram_read, timeline.dram_written, strict=False))
    assert busiest <= 1.1 * 8 * 46.3 * timeline.slot_cycles, "eight banks give no more"


def test_a_transfer_shorter_than_a_cycle_is_in_the_timeline(builder: Builder) -> None:
    b, grid = builder, builder.grid(1)
    programs_of(b.device).timeline = True
    a, out = b.tensor(torch.ones(1, 1, 32, 32)), b.tensor(torch.zeros(1, 1, 32, 32))
    addresses = [a.buffer_address(), out.buffer_address()]
    kernel = b.kernel("few_bytes.cpp", "reader", grid, b.accessors(a, out), lambda x, y: addresses)
    assert b.run([a, out], b.program([kernel], [b.cb(0, grid)])).sum() == 8, "16 bytes of bf16"
    counts, timeline = kept(b)
    assert (sum(timeline.dram_read), sum(timeline.dram_written)) == (64, 16)
    assert (counts.total.dram_read_bytes, counts.total.dram_write_bytes) == (64, 16)


def test_what_is_read_again_counts_once(builder: Builder) -> None:
    builder.run(*twins.copy(builder, 4, 8))
    p = programs_of(builder.device).counts[-1].predicted
    assert p.dram_once_bytes == p.dram_bytes == 2 * 4 * 8 * 2048
    builder.run(*twins.rope(builder, 8))
    p = programs_of(builder.device).counts[-1].predicted
    assert p.dram_bytes == (16 * 16 + 16 * 4) * 2048
    assert p.dram_once_bytes == (2 * 16 * 4 + 2 * 8) * 2048, "x is read twice, cos and sin by all, the output written"
