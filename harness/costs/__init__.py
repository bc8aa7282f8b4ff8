"""What ttnn 0.81.1's own ops would take on a Blackhole, predicted from the work they do. docs/cost-model.md tells more.

chip        the constants and their sources
program     the work of a launch, and its time
dataflow, rowwise, matmul, attention    the work of each op, as a function of its sizes
ops         from a recorded call to that work
floor       the DRAM floor of a layer
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.costs import ops
from harness.costs.chip import CHIPS, ORIGIN, P150, Chip, parse_chip
from harness.costs.floor import floor_bytes, floor_us
from harness.costs.program import Prediction, predict

if TYPE_CHECKING:
    from harness.targets import OpCall

__all__ = ["CHIPS", "ORIGIN", "P150", "Chip", "Prediction", "floor_bytes", "floor_us", "parse_chip", "predict_call"]


def predict_call(call: OpCall, grid: tuple[int, int], chip: Chip = P150, older: bool = False) -> Prediction | None:
    """us of a call on ttnn 0.81.1 and a grid of x, y cores; None where there is no cost model of the op.

    older: on the ttnn of the published times instead.
    """
    programs = ops.programs(call, grid, older)
    return predict(programs, chip) if programs else None
