"""The chip reaches what predicts: the emulated device, its virtual time, the cost model and the floor."""

from __future__ import annotations

import pytest

from harness import costs
from harness.breakdown import Breakdown, run_breakdown
from harness.calibration import twins
from harness.case import Case, Inputs
from harness.costs import CHIPS, P150
from harness.emulator import ttnn
from harness.emulator.programs import KernelFault, machine_constants, programs_of
from harness.registry import parse
from harness.shape import PRESETS
from harness.targets import open_target
from tests.emulator.conftest import make_builder

CASE = Case(PRESETS["small"], S=100, Smax=256)
P100A = CHIPS["p100a"]


def breakdown_on(chip: costs.Chip) -> Breakdown:
    with open_target("emulator", chip=chip) as target:
        return run_breakdown(target, parse("heads_rope"), Inputs.random(CASE))


def test_a_p100a_has_seven_banks_and_gives_seven_eighths():
    with open_target("emulator", chip=P100A) as target:
        device = target.device
        assert device.dram_grid_size().x == 7 and device.grid.x * device.grid.y == 110
    assert P100A.dram_peak == 448 and costs.floor_us(CASE, P100A) == pytest.approx(costs.floor_us(CASE) * 8 / 7)
    on_p150, on_p100a = breakdown_on(P150), breakdown_on(P100A)
    for line, slower in zip(on_p150.lines, on_p100a.lines, strict=True):
        assert line.predicted_us <= slower.predicted_us * 1.02, line.label
    attention = next(line for line in on_p150.lines if line.label == "attention")
    assert attention.predicted_us < next(e for e in on_p100a.lines if e.label == "attention").predicted_us


def test_published_times_are_the_p150s():
    case = Case()
    with open_target("emulator", chip=P100A) as target:
        b = run_breakdown(target, parse("op_graph"), Inputs.random(case))
    assert b.predicted_us and all(line.us is None for line in b.lines) and b.origin is None


@pytest.mark.parametrize("banks", [7, 8])
def test_dram_gives_what_its_banks_give(banks):
    device = ttnn.Device(banks=banks)
    builder = make_builder(device)
    builder.run(*twins.copy(builder, 110, 32, block=16))
    p = programs_of(device).counts[-1].predicted
    ttnn.close_device(device)
    assert p.dram_bytes / p.cycles * p.clock_mhz / 1e3 == pytest.approx(344 * banks / 8, rel=0.08)


def test_a_launch_takes_other_constants_by_name():
    device = ttnn.Device()
    builder, programs = make_builder(device), programs_of(device)
    builder.run(*twins.copy(builder, 1, 8))
    before = programs.counts[-1].predicted
    table = {c.name: c for c in machine_constants()}
    programs.constants = {"launch": table["launch"].value + 100, "dram_read": table["dram_read"].value + 50}
    builder.run(*twins.copy(builder, 1, 8))
    after = programs.counts[-1].predicted
    assert after.launch_cycles == before.launch_cycles + 100
    assert after.cycles == before.cycles + 7 * 50, "eight reads, one in flight, one of them of a bank in the row"
    programs.constants = {"warp": 9}
    with pytest.raises(KernelFault, match="unknown constant: warp"):
        builder.run(*twins.copy(builder, 1, 8))
    ttnn.close_device(device)
