"""Virtual time: near the published ops where the access pattern is theirs, and the same in every run."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.calibration import twins
from harness.calibration.twins import TWINS
from harness.emulator.programs import Prediction, machine_constants, programs_of
from harness.emulator.programs.constants import markdown
from tests.emulator import good
from tests.emulator.build import Builder

PROGRAMS = ("matmul", "norm", "multicast", "rounds", "ring")


def predicted(b: Builder) -> Prediction:
    return programs_of(b.device).counts[-1].predicted


def near(b: Builder, name: str) -> bool:
    """Within 15 % of each op with the pattern."""
    return all(predicted(b).us == pytest.approx(us, rel=0.15) for us in TWINS[name].published)


@pytest.mark.parametrize("name", TWINS)
def test_twin_is_near_the_published_op(builder: Builder, name: str) -> None:
    builder.run(*TWINS[name].build(builder))
    assert near(builder, name)


def test_another_pattern_is_not_near(builder: Builder) -> None:
    """Two reads in flight, half the reads, or half the cores: 15 % tells them apart."""
    name = "create_qkv_heads: 2 cores x 128 reads, one in flight"
    for cores, each, block in ((2, 128, 2), (2, 64, 1), (4, 64, 1)):
        builder.run(*twins.copy(builder, cores, each, block))
        assert not near(builder, name)


@pytest.mark.parametrize("name", PROGRAMS)
def test_two_runs_take_the_same_cycles(builder: Builder, name: str) -> None:
    good.GOOD[name](builder)
    first = predicted(builder)
    good.GOOD[name](builder)
    assert predicted(builder) == first


def test_stalls_say_what_binds(builder: Builder) -> None:
    """A copy with one read in flight waits for its reads, and its writer for pages."""
    builder.run(*twins.copy(builder, 1, 64))
    threads = predicted(builder).cores[0, 0]
    assert max(threads["RISCV_1"].stalls, key=threads["RISCV_1"].stalls.__getitem__) == "read"
    assert max(threads["RISCV_0"].stalls, key=threads["RISCV_0"].stalls.__getitem__) == "CB empty"
    for times in threads.values():
        assert sum(times.stalls.values()) < times.end


def test_a_semaphore_carries_its_senders_time(builder: Builder) -> None:
    """Tiles that go round a ring arrive one hop after the other, and who waits says so."""
    good.rounds(builder, 4, 2, turns=2)
    short = predicted(builder)
    good.rounds(builder, 4, 2, turns=6)
    long = predicted(builder)
    assert long.cycles > short.cycles + 4 * 360, "four more turns, each a write and its acknowledgement"
    assert all(sum(t.stalls["semaphore"] for t in threads.values()) > 0 for threads in long.cores.values())


# The logical core next to each bank's endpoint on NoC 0, by its NoC coordinates in the descriptor of the chip.
NEXT_TO_BANK = [(0, 9), (0, 0), (0, 7), (0, 3), (7, 9), (7, 1), (7, 6), (7, 4)]
ALL_BANKS = 8


def stream(b: Builder, banks: dict[tuple[int, int], int], depth: int) -> float:
    """GB/s of cores that read 128 blocks of 16 KB, ``depth`` in flight, of the bank given for each."""
    t = b.ttnn
    a, other = b.empty((1, 1, 32, 32 * 8192)), b.empty((1, 1, 32, 32))
    grid = t.CoreRangeSet([t.CoreRange(t.CoreCoord(*core), t.CoreCoord(*core)) for core in banks])
    args = [128, depth]
    kernel = b.kernel("stream.cpp", "reader", grid, args, lambda x, y: [a.buffer_address(), banks[x, y]])
    t.generic_op([a, other], b.program([kernel], [b.cb(0, grid, 8 * depth)]))
    p = predicted(b)
    return p.dram_bytes / p.cycles * p.clock_mhz / 1e3


def test_dram_bandwidth_is_the_measured_one(builder: Builder) -> None:
    """500 GB/s with a reader next to each bank and two reads in flight, 344 with readers anywhere; 23 B/cycle for one
    core that reads all banks."""
    best = {core: bank for bank, core in enumerate(NEXT_TO_BANK)}
    assert stream(builder, best, 2) == pytest.approx(500, rel=0.03)
    anywhere = {core: (bank + 3) % 8 for core, bank in best.items()}
    assert stream(builder, anywhere, 2) == pytest.approx(344, rel=0.05)
    assert stream(builder, {(4, 4): ALL_BANKS}, 15) == pytest.approx(23 * 1.35, rel=0.1)
    assert stream(builder, {(x, 0): 0 for x in range(8)}, 2) < 63, "one bank gives no more to eight"


@pytest.mark.parametrize(
    ("write", "page", "cycles"), [(0, 12, 373), (0, 1, 227), (1, 12, 360), (1, 1, 207)]
)  # page 12 is on core (1, 1), page 1 on core (1, 0)
def test_l1_round_trips_are_the_measured_ones(builder: Builder, write: int, page: int, cycles: int) -> None:
    b, grid = builder, builder.grid(1)
    a = b.tensor(good.values(1, (1, 1, 32, 32 * 110)), memory="L1")
    out = b.empty((1, 1, 32, 32))
    kernel = b.kernel("across.cpp", "reader", grid, [write, *b.accessors(a)], lambda x, y: [a.buffer_address(), page])
    b.ttnn.generic_op([a, out], b.program([kernel], [b.cb(0, grid)]))
    assert predicted(b).cycles == pytest.approx(cycles, rel=0.15)


@pytest.mark.parametrize(("columns", "cycles"), [(1, 766), (10, 4479)])
def test_multicasts_hinder_each_other_as_measured(builder: Builder, columns: int, cycles: int) -> None:
    """2 KB to the nine cores below, from one core and from ten at once."""
    b, grid = builder, builder.grid(columns)
    a, out = b.tensor(good.values(1, (1, 1, 32, 32 * 110)), memory="L1"), b.empty((1, 1, 32, 32))

    def args(x: int, y: int) -> list[int]:
        column, first = b.noc(x, 1)
        return [a.buffer_address(), x, column, first, first + 8]

    kernel = b.kernel("column.cpp", "reader", grid, [9, *b.accessors(a)], args)
    b.ttnn.generic_op([a, out], b.program([kernel], [b.cb(0, grid)]))
    assert predicted(b).cycles == pytest.approx(cycles, rel=0.1)


def test_many_cores_share_the_banks(builder: Builder) -> None:
    """110 cores with reads in flight get no more than the banks give, and most of what they give to all."""
    builder.run(*twins.copy(builder, 110, 32, block=16))
    p = predicted(builder)
    busy_gb_s = p.dram_bytes * p.clock_mhz / p.cycles / 1e3
    assert 300 < busy_gb_s < 344 * 1.02
    builder.run(*twins.copy(builder, 1, 32, block=16))
    alone = predicted(builder)
    assert alone.dram_bytes / alone.cycles < 46.3


def test_a_product_takes_its_phases(builder: Builder) -> None:
    """16 tile products, 16 cycles a phase."""
    fidelity, busy = builder.ttnn.MathFidelity, []
    for phases in (fidelity.LoFi, fidelity.HiFi2, fidelity.HiFi3, fidelity.HiFi4):
        good.matmul(builder, math_fidelity=phases)
        math = predicted(builder).cores[0, 0]["math"]
        busy.append(math.end - sum(math.stalls.values()))
    assert [b - busy[0] for b in busy] == [0, 256, 512, 768]


def test_the_document_lists_every_constant() -> None:
    document = (Path(__file__).parents[2] / "docs" / "emulator.md").read_text()
    constants = machine_constants()
    assert len(constants) > 30 and {c.mark for c in constants} == {"S", "F", "A"} and all(c.source for c in constants)
    assert markdown(constants) in document, "python -m harness.emulator.programs prints today's table"
