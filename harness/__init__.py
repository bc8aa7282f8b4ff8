"""The workbench: contract, oracle, targets, checks, comparisons and the command line."""

import ctypes
import os

# Waiting threads sleep. Spinning ones make torch many times slower wherever cores are shared. To be set before torch
# is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# Tensors of many megabytes come and go. glibc would give their memory back each time and get it again page by page,
# which was a sixth of the time of comparing eleven layers. Other C libraries have no mallopt.
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4
if mallopt := getattr(ctypes.CDLL(None), "mallopt", None):
    for knob, value in ((M_TRIM_THRESHOLD, 1 << 30), (M_TOP_PAD, 64 << 20), (M_MMAP_MAX, 0)):
        mallopt(knob, value)
