"""Every wrong layer is rejected, and for the right reason; docs/accuracy.md has the table."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from harness.case import Case, Inputs
from harness.check import CheckResult, run_check
from harness.distributions import DISTRIBUTIONS
from harness.registry import Spec
from harness.shape import LayerShape
from harness.targets import Target
from layer_impls.op_graph import OpGraph, OpGraphOptions
from tests.wrong_layers import FAULTS, Faulty
from tests.wrong_layers.faulty import Fault
from tests.wrong_layers.right import RIGHT

# Two KV heads with two query heads each; S ends within a tile.
CASE = Case(LayerShape(tokens=32, hidden=256, n_heads=4, n_kv_heads=2, head_dim=64, inter=512), S=75, Smax=160)
ACCURACY = Path(__file__).parents[2] / "docs" / "accuracy.md"


def judge(target: Target, cls: type[OpGraph], case: Case) -> CheckResult:
    return run_check(target, Spec(cls.__name__, cls, OpGraphOptions()), Inputs.random(case))


def reasons(result: CheckResult) -> list[str]:
    """Parts that failed; of a tensor, the figures."""
    return [
        reason
        for part in result.parts
        if not part.passed
        for reason in ([f"{part.title}: {a.name}" for a in part.aspects if not a.passed] or [part.title])
    ]


@pytest.mark.parametrize("name", FAULTS)
def test_a_wrong_layer_is_rejected_for_the_right_reason(emulator, name):
    fault = FAULTS[name]
    assert fault.caught in reasons(judge(emulator, fault.layer, dataclasses.replace(CASE, **fault.changes)))


@pytest.mark.parametrize("changes", [{}, *(f.changes for f in FAULTS.values() if f.changes)], ids=str)
def test_the_same_harness_passes_the_right_layer(emulator, changes):
    assert reasons(judge(emulator, Faulty, dataclasses.replace(CASE, **changes))) == []


@pytest.mark.parametrize("inputs", DISTRIBUTIONS)
@pytest.mark.parametrize("cls", RIGHT, ids=lambda cls: cls.__name__)
def test_layers_that_round_otherwise_or_less_pass(emulator, cls, inputs):
    assert reasons(judge(emulator, cls, dataclasses.replace(CASE, inputs=inputs))) == []


def table(faults: list[Fault]) -> str:
    """The table of docs/accuracy.md."""
    lines = ["| fault | caught by |", "|---|---|", *(f"| {f.says} | {f.caught} |" for f in faults)]
    return "\n".join(lines)


def test_the_documented_table_is_this_one():
    assert table(list(FAULTS.values())) in ACCURACY.read_text()
