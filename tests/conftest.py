"""Shared fixtures, and how hypothesis draws.

Tests marked `simulator` need the real ttnn and a simulator, and skip where there is none.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch reads it: tensors are small, and workers share the cores
import pytest
import torch
from hypothesis import HealthCheck, settings

from harness.targets import Target, open_target
from harness.targets.target import find_simulator

# Machines are shared: a slow example is not a failing one. The same examples each time, unless `random` is asked for,
# as long as the same modules are loaded: hypothesis draws from their constants, too.
settings.register_profile("random", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.register_profile("repeatable", settings.get_profile("random"), derandomize=True, database=None)
settings.load_profile("repeatable")


def simulator_missing() -> str | None:
    """Why the simulator target cannot be opened here, None if it can."""
    if importlib.util.find_spec("ttnn") is None:
        return "the real ttnn is not installed"
    return None if find_simulator() else "no simulator in ~/sim and no TT_METAL_SIMULATOR"


@pytest.fixture(autouse=True)
def results_folder(tmp_path_factory, monkeypatch) -> Path:
    """Where commands keep their records, so that none lands in the folder the tests run in."""
    folder = tmp_path_factory.mktemp("results")
    monkeypatch.setenv("LAYERBENCH_RESULTS", str(folder))
    return folder


@pytest.fixture(autouse=True)
def seeded() -> None:
    """Tests that draw from torch's own generator draw the same each time."""
    torch.manual_seed(0)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reason = simulator_missing()
    for item in items:
        if reason and item.get_closest_marker("simulator"):
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def emulator() -> Iterator[Target]:
    """An open emulated device."""
    with open_target("emulator") as target:
        yield target


def run_on_the_real_ttnn(code: str, timeout: int = 900) -> None:
    """Python in a process of its own, which the real ttnn may hang or end; it must succeed."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, done.stdout + done.stderr


def run_battery_on_the_real_ttnn(test: str, spec: str, shape: str = "tiny", timeout: int = 900) -> None:
    """A test of harness/battery.py on the simulator, in a process of its own."""
    case = f"Case(parse_shape({shape!r}), S=40, Smax=128)"
    imports = "from harness.battery import Case, parse, parse_shape; from harness import battery"
    run_on_the_real_ttnn(f"{imports}; battery.{test}('simulator', parse({spec!r}), {case})", timeout)


def run_cli(*args: str, timeout: int = 900, **env: str) -> subprocess.CompletedProcess[str]:
    """`layerbench ARGS` in a process of its own, as a user has it."""
    command = [sys.executable, "-m", "harness.cli", *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, env={**os.environ, **env})
