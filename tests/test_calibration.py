"""Calibration without a card: an emulator with other constants is measured, and the fit finds them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from harness import calibration
from harness.breakdown import run_breakdown
from harness.calibration.fit import fit
from harness.calibration.twins import TWINS
from harness.case import Case, Inputs
from harness.costs import P150
from harness.errors import UsageError
from harness.registry import parse
from harness.shape import PRESETS
from harness.targets import open_target
from tests.conftest import run_cli

# Of the machine and of the cost model: what another card might have.
MACHINE = {"launch": 3300, "compute_start": 2200, "dram_read": 520, "handover": 30}
SHARED = {"skew": 7, "scattered": 28, "core_scattered": 22}  # take many cores to tell
COSTS = {"launch": 2.4, "fill": 1.9, "dram_interleaved": 300, "read_latency": 600, "core_read": 22, "tile_pass": 110}
OTHER = replace(P150, machine=MACHINE, **COSTS)
QUICK = {n: twin for n, twin in TWINS.items() if n.startswith(("rms", "k_norm", "rope k", "concat", "fill", "add"))}
FOUND_WITHIN = 0.03


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The calibration of a card with the other constants, and its file."""
    path = tmp_path_factory.mktemp("calibration") / "card.json"
    with open_target("emulator", chip=OTHER) as target:
        result = calibration.run_calibration(target, P150, Case(), twins=QUICK)
        calibration.write(path, result, target)
    return result, path


@pytest.mark.parametrize("side, truth", [("machine", MACHINE), ("costs", COSTS)])
def test_the_fit_finds_the_constants_of_another_card(written, side, truth):
    found = getattr(written[0], side)
    assert set(truth) <= set(found.fit.fitted)
    for name, value in found.fit.values.items():
        expected = truth.get(name, found.published[name])
        assert value == pytest.approx(expected, rel=FOUND_WITHIN), name
        assert name in found.fit.fitted or value == found.published[name], name
    for us, after in zip(found.measured.values(), found.fit.after, strict=True):
        assert after == pytest.approx(us, rel=0.01)


@pytest.mark.slow
def test_all_twins_tell_what_cores_share():
    truth = {**MACHINE, **SHARED}
    with open_target("emulator", chip=replace(P150, machine=truth)) as target:
        found = calibration.run_calibration(target, P150, Case()).machine.fit
    for name, value in truth.items():
        assert found.values[name] == pytest.approx(value, rel=FOUND_WITHIN), name


def test_the_file_says_what_it_is_of_and_its_constants_predict(written):
    _, path = written
    text = json.loads(path.read_text())
    assert text["target"] == "emulator" and text["chip"] == "p150" and text["grid"] == [11, 10]
    assert text["machine"]["constants"]["request"]["fitted"] is False
    chip = calibration.read(path, P150)
    assert chip.calibration.startswith(f"calibration {path.name}: ")
    for name in ("dram_read", "launch"):
        assert chip.machine[name] == pytest.approx(MACHINE[name], rel=FOUND_WITHIN)
    case = Case(PRESETS["small"], S=100, Smax=256)
    times = []
    for predicted_with in (chip, OTHER, P150):
        with open_target("emulator", chip=predicted_with) as target:
            times.append(run_breakdown(target, parse("norm_residual"), Inputs.random(case)))
    calibrated, other, published = (b.predicted_us for b in times)
    assert calibrated == pytest.approx(other, rel=0.01) and published < 0.95 * other


def test_the_report_says_which_calibration_was_used(written):
    small = ("--shape", "tiny", "-S", "40", "--max-seq", "128")
    done = run_cli("breakdown", "op_graph", *small, "--calibration", str(written[1]))
    assert "calibration card.json: of the emulator itself" in done.stdout, done.stderr


def damaged(text, path, change):
    broken = json.loads(text)
    change(broken)
    path.write_text(json.dumps(broken))


@pytest.mark.parametrize(
    "change, says",
    [
        (lambda f: f.update(schema=99), "has schema 99"),
        (lambda f: f.update(kind="a cake"), "no calibration file"),
        (lambda f: f.update(chip="p100a"), "give --chip p100a"),
        (lambda f: f.pop("machine"), "damaged"),
        (lambda f: f["costs"].update(constants=3), "damaged"),
        (lambda f: f["costs"]["constants"]["launch"].pop("value"), "damaged"),
        (lambda f: f["costs"]["constants"]["launch"].update(value=-1), "launch is -1"),
        (lambda f: f["costs"]["constants"]["launch"].update(value="2"), "launch is '2'"),
        (lambda f: f["machine"]["constants"].update(warp={"value": 9, "fitted": False}), "'warp'"),
    ],
)
def test_a_damaged_or_foreign_file_is_refused_in_a_line(written, tmp_path, change, says):
    path = tmp_path / "broken.json"
    damaged(written[1].read_text(), path, change)
    with pytest.raises(UsageError, match=says) as error:
        calibration.read(path, P150)
    assert "\n" not in str(error.value)


def test_what_is_no_file_or_no_json_is_refused(tmp_path):
    path = tmp_path / "none.json"
    with pytest.raises(UsageError, match="cannot read"):
        calibration.read(path, P150)
    path.write_text("{")
    with pytest.raises(UsageError, match="not JSON"):
        calibration.read(path, P150)


def test_a_constant_that_the_times_do_not_tell_is_kept():
    """b and c only show as their product: the one that is known well is kept. d does not show at all."""

    def model(v):
        return [v["a"] + 10 * n + v["b"] * v["c"] * n for n in (1, 2, 8)]

    truth = {"a": 7.0, "b": 3.0, "c": 5.0, "d": 1.0}
    found = fit(model, {**truth, "a": 5.0, "c": 6.0}, model(truth), loose=["c"])
    assert set(found.fitted) == {"a", "c"} and found.values["d"] == 1.0
    assert found.values["a"] == pytest.approx(7, rel=0.01) and found.values["c"] == pytest.approx(5, rel=0.01)
