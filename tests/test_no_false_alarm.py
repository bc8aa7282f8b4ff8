"""Right implementations pass at every legal shape, whatever the inputs. docs/accuracy.md states the figure."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from harness.case import Case, Inputs
from harness.check import run_check
from harness.registry import parse
from harness.targets import open_target
from tests.strategies import cases, op_graphs

SEEDS = (1, 2, 3)


@pytest.mark.slow
@given(case=cases(), spec=st.one_of(op_graphs, op_graphs, op_graphs, st.just("partly_fused")))
@settings(max_examples=200, derandomize=True, database=None, phases=[Phase.generate])
def test_two_hundred_random_shapes_pass_with_three_seeds_each(case: Case, spec: str):
    for seed in SEEDS:
        with open_target("emulator") as target:
            result = run_check(target, parse(spec), Inputs.random(dataclasses.replace(case, seed=seed)))
        wrong = [f"{part.title}: {part.failure}" for part in result.parts if not part.passed]
        print(f"{'FALSE ALARM' if wrong else 'passed'}: {spec}, {case.shape}, {result.case} {wrong or ''}", flush=True)
        assert not wrong
