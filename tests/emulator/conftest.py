"""An emulated device behind a Builder, and one run of the real ttnn on a simulator for the whole session."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from harness.emulator import programs, ttnn
from tests.emulator.build import Builder
from tests.emulator.cases import CASES, VARIANTS

TIMEOUT = 1500


@pytest.fixture(scope="session")
def simulated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the real ttnn gives for the cases, and, if slow tests ask for them, for variants and border calls."""
    library = Path(os.environ.get("TT_METAL_SIMULATOR") or Path.home() / "sim" / "libttsim_bh.so")
    if importlib.util.find_spec("ttnn") is None:
        pytest.skip("needs the real ttnn: pip install 'layerbench[ttnn]'")
    if not library.exists():
        pytest.skip(f"needs a simulator: {library} is not there (set TT_METAL_SIMULATOR)")
    path = tmp_path_factory.mktemp("simulated") / "found.pt"
    users = [item for item in request.session.items if "simulated" in getattr(item, "fixturenames", ())]
    whole = any(item.get_closest_marker("slow") for item in users)
    names = ["calls" if whole else "-", *(name for name in CASES if whole or name not in VARIANTS)]
    environment = os.environ | {
        "TT_METAL_SIMULATOR": str(library),
        "TT_METAL_SLOW_DISPATCH_MODE": "1",
        "TT_METAL_DISABLE_SFPLOADMACRO": "1",
        "TT_LOGGER_LEVEL": "fatal",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.emulator.on_simulator", str(path), *names],
        env=environment,
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
    assert path.exists(), f"the simulator run left nothing: {output[-2000:]}"
    found = torch.load(path)
    assert "done" in found, (
        f"the simulator run stopped after {[len(part) for part in found.values()]}: {output[-2000:]}"
    )
    return found


def make_builder(device: ttnn.Device) -> Builder:
    """For programs on ``device``."""
    return Builder(SimpleNamespace(**{**vars(ttnn), **vars(programs)}), device)


@pytest.fixture
def builder() -> Iterator[Builder]:
    """A fresh emulated device of 11x10 cores, for programs of kernels."""
    device = ttnn.open_device(device_id=0)
    yield make_builder(device)
    ttnn.close_device(device)
