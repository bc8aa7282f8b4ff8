"""The same programs on the real ttnn, over the functional simulator: equal bit for bit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.emulator.build import Builder
from tests.emulator.good import GOOD

SIMULATOR = Path(os.environ.get("TT_METAL_SIMULATOR", Path.home() / "sim" / "libttsim_bh.so"))
RUN = """
import sys, torch, ttnn
from tests.emulator.build import Builder
from tests.emulator.good import GOOD
device = ttnn.open_device(device_id=0)
torch.save({name: run(Builder(ttnn, device)) for name, run in GOOD.items()}, sys.argv[1])
ttnn.close_device(device)
"""


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> dict[str, torch.Tensor]:
    """Every good program's output on the simulator."""
    pytest.importorskip("ttnn")
    if not SIMULATOR.exists():
        pytest.skip(f"no simulator at {SIMULATOR}")
    path = tmp_path_factory.mktemp("ttsim") / "outputs.pt"
    settings = {"TT_METAL_SIMULATOR": str(SIMULATOR), "TT_METAL_SLOW_DISPATCH_MODE": "1",
                "TT_METAL_DISABLE_SFPLOADMACRO": "1", "TT_LOGGER_LEVEL": "error"}  # fmt: skip
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(path)], env={**os.environ, **settings}, cwd=root, timeout=500,
        capture_output=True, text=True,
    )  # fmt: skip
    assert path.exists(), done.stdout[-2000:] + done.stderr[-2000:]
    return torch.load(path)


@pytest.mark.simulator
@pytest.mark.parametrize("name", GOOD)
def test_equal_to_ttsim(builder: Builder, real: dict[str, torch.Tensor], name: str) -> None:
    assert torch.equal(GOOD[name](builder).float(), real[name].float())
