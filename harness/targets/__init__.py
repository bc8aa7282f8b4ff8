"""Where a layer runs: `emulator`, `simulator` or `device`. One helper opens, says what it opened, and closes."""

from harness.targets.recorder import OpCall, Recorder, TensorInfo
from harness.targets.target import TARGETS, Target, open_target
from harness.targets.traces import TraceHazard

__all__ = ["TARGETS", "OpCall", "Recorder", "Target", "TensorInfo", "TraceHazard", "open_target"]
