"""A calibration: the twins fit the constants of the emulator's virtual time, the ops those of the cost model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from harness.calibration import measure
from harness.calibration.fit import Fit, fit
from harness.calibration.twins import TWINS, Twin
from harness.case import Case
from harness.check import Progress, no_progress
from harness.costs import Chip, predict_call
from harness.costs.chip import constants
from harness.errors import UsageError
from harness.targets import Target, open_target

# Not for these measurements to tell: they show times, not cycles, and no op comes near the best that DRAM gives.
KEPT = ("clock", "clock_mhz", "dram_peak", "dram_best")


@dataclass(frozen=True)
class Side:
    """One of the two models. ``unit``: of each constant; ``measured``: us by name, in the order of the fit's."""

    fit: Fit
    units: Mapping[str, str]
    published: Mapping[str, float]
    measured: Mapping[str, float]


@dataclass(frozen=True)
class Calibration:
    """``chip``: the one to predict with. ``origin``: where the times are from."""

    chip: Chip
    origin: str
    machine: Side
    costs: Side


def check_target(name: str) -> None:
    """Raise ``UsageError`` for a target without a clock; better before it is opened."""
    if name == "simulator":
        raise UsageError("a functional simulator has no clock: calibrate on the device, or try it on the emulator")


def run_calibration(
    target: Target,
    chip: Chip,
    case: Case,
    progress: Progress = no_progress,
    twins: Mapping[str, Twin] = TWINS,
) -> Calibration:
    """Time the twins and the ops of ``case`` on ``target``, and fit the constants of ``chip`` to them."""
    grid = target.device.compute_with_storage_grid_size()
    chip = replace(chip, grid=(grid.x, grid.y))
    origin = f"timed on {target.opened}" if target.name == "device" else f"of the emulator itself ({target.opened})"
    return Calibration(chip, origin, _machine(target, chip, twins, progress), _costs(target, chip, case, progress))


def _machine(target: Target, chip: Chip, twins: Mapping[str, Twin], progress: Progress) -> Side:
    """Virtual time, to the twins. What is assumed of calls and tiles stays: no twin shows it alone."""
    from harness.emulator.programs import machine_constants

    progress("twins", "")
    measured = dict(zip(twins, measure.twin_us(target, measure.prepare(target, twins)), strict=True))
    table = {c.name: c for c in machine_constants() if c.unit and c.mark != "A" and c.name not in KEPT}
    published = {name: c.value for name, c in table.items()}
    start = {name: chip.machine.get(name, value) for name, value in published.items()}
    others = {name: value for name, value in chip.machine.items() if name not in start}
    with open_target("emulator", chip=chip) as model:
        assert model.programs
        launches = measure.prepare(model, twins)

        def predict(values: Mapping[str, float]) -> list[float]:
            assert model.programs
            progress("fit of virtual time", "")
            model.programs.constants = {**others, **values}
            return measure.twin_us(model, launches)

        loose = [name for name, c in table.items() if c.mark == "F"]
        found = fit(predict, start, list(measured.values()), loose)
    return Side(found, {name: c.unit for name, c in table.items()}, published, measured)


def _costs(target: Target, chip: Chip, case: Case, progress: Progress) -> Side:
    """The cost model, to the ops."""
    b, times = measure.op_graph(target, case, progress)
    measured = dict(zip((line.label for line in b.lines), times, strict=True))
    units = {name: unit for name, _, unit, _ in constants(chip) if name not in KEPT}

    def predict(values: Mapping[str, float]) -> list[float]:
        trial = replace(chip, **values)  # type: ignore[arg-type]
        predictions = [predict_call(line.call, chip.grid, trial) for line in b.lines]
        return [p.us for p in predictions if p]

    loose = [name for name, _, _, source in constants(chip) if source.startswith("fitted")]
    found = fit(predict, {name: getattr(chip, name) for name in units}, times, loose)
    published = {name: value for name, value, _, _ in constants() if name in units}
    return Side(found, units, published, measured)
