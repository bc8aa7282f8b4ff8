"""Constants of the predictions, fitted anew to what a device measures.

build, twins   small programs with the access patterns of ttnn's ops, for virtual time
measure        times of the twins and of the op graph's ops on a target
fit            least squares over the constants that the times tell apart
run            a calibration: twins fit the emulator's virtual time, ops the cost model
file           the calibration file
show           tables for people
"""

from harness.calibration.file import read, write
from harness.calibration.run import Calibration, check_target, run_calibration
from harness.calibration.show import render

__all__ = ["Calibration", "check_target", "read", "render", "run_calibration", "write"]
