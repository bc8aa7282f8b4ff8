"""The workbench: contract, oracle, targets, checks, comparisons and the command line."""

import os

# Waiting threads sleep. Spinning ones make torch many times slower wherever cores are shared. To be set before torch
# is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
