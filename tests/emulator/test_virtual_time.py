"""Virtual time: near the published ops where the access pattern is theirs, and the same in every run."""

from __future__ import annotations

import pytest

from harness.emulator.programs import Prediction, programs_of
from tests.emulator import good
from tests.emulator.build import Builder
from tests.emulator.good import GOOD
from tests.emulator.twins import TWINS


def predicted(b: Builder) -> Prediction:
    return programs_of(b.device).counts[-1].predicted


@pytest.mark.parametrize("name", TWINS)
def test_twin_is_near_the_published_op(builder: Builder, name: str) -> None:
    twin = TWINS[name]
    twin.run(builder)
    least, most = twin.published
    assert 0.85 * least < predicted(builder).us < 1.15 * most
