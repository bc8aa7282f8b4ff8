"""What the emulator catches by itself must be caught on the real ttnn too."""

from __future__ import annotations

import pytest

from harness.targets import open_target
from tests.wrong_layers import FAULTS
from tests.wrong_layers.test_wrong_layers import CASE, judge, reasons


@pytest.mark.simulator
@pytest.mark.parametrize("name", ["NeverWritten", "Scaled", "FirstTensorsOfLayer"])
def test_a_wrong_layer_is_rejected_on_the_real_ttnn(name):
    fault = FAULTS[name]
    with open_target("simulator") as target:
        found = reasons(judge(target, fault.layer, CASE))
        target.exit_code = 0
    assert fault.caught in found
