"""Right implementations pass at every legal shape, whatever the inputs. docs/accuracy.md states the figures."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import Phase, given, reject, settings
from hypothesis import strategies as st

from harness.case import Case, Inputs
from harness.check import run_check
from harness.errors import UsageError
from harness.registry import names, parse
from harness.shape import LayerShape
from harness.strategies import cases
from harness.targets import open_target
from tests.strategies import op_graphs

SEEDS = (1, 2, 3)
KERNELS = st.sampled_from([name for name in names() if name != "op_graph"])


@pytest.mark.slow
@pytest.mark.parametrize("specs", [op_graphs, KERNELS], ids=["op graph", "kernels"])
def test_a_hundred_random_shapes_pass_with_three_seeds_each(specs):
    alarms: list[str] = []
    shapes: set[LayerShape] = set()
    worst: dict[str, float] = {}

    @given(case=cases(), spec=specs)
    @settings(max_examples=100, derandomize=True, database=None, phases=[Phase.generate])
    def look(case: Case, spec: str) -> None:
        if case.shape in shapes:
            reject()
        for seed in SEEDS:
            try:
                with open_target("emulator") as target:
                    result = run_check(target, parse(spec), Inputs.random(dataclasses.replace(case, seed=seed)))
            except UsageError:  # a shape this one does not take
                reject()
            wrong = [f"{part.title}: {part.failure}" for part in result.parts if not part.passed]
            alarms.extend(f"{spec}, {case.shape}, {result.case}: {line}" for line in wrong)
            for part in result.parts:
                for aspect in part.aspects:
                    if aspect.ratio is not None:
                        name = f"{part.name}: {aspect.name}"
                        worst[name] = max(worst.get(name, 0.0), aspect.ratio)
            shapes.add(case.shape)
            print(f"{'FALSE ALARM' if wrong else 'passed'}: {spec}, {case.shape}, {result.case} {wrong}", flush=True)

    look()
    assert len(shapes) == 100
    print(*(f"{name}: at worst {ratio:.2f} of the limit" for name, ratio in worst.items()), sep="\n")
    assert not alarms, "\n".join(alarms)
